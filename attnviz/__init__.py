"""attnviz: see every attention head of a transformer, and every step of its computation.

    lm = attnviz.load("minilm")
    cap = attnviz.capture(lm, "The cat sat")
    cap.weights("L0.H3")                    # numpy [query, key]
    cap.head("L0.H3").views()               # X → Q, K, V → … → ·W_O, with real numbers
    cap.table().sort("peak", n=5)           # the five heads with the largest weights
    attnviz.save(cap, "run.safetensors")    # .svg, .pdf, .npz, .csv, … by the ending

Importing attnviz loads neither torch nor streamlit: names are looked up when first used (PEP 562).
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz import changes, compare, figures, masks, metrics, tiles
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.capture import Capture
    from attnviz.attention.steps import Steps, derive
    from attnviz.attention.verification import Verification
    from attnviz.audio.sound import Sound
    from attnviz.capture.changed.run import changed
    from attnviz.capture.generation.settings import Generation
    from attnviz.capture.record.recorder import record
    from attnviz.capture.run import capture
    from attnviz.changes.make import ablate, cut, patch, pattern
    from attnviz.embed.run import Embedding, embed
    from attnviz.errors import (
        AttnVizError,
        BadInput,
        BadMask,
        Cancelled,
        CaptureMismatch,
        MissingExtra,
        ModelNotFound,
        TooLarge,
        UnsupportedAttention,
    )
    from attnviz.experiment.answer_measures import Class, Cosine, Divergence, NextToken, Target
    from attnviz.experiment.cut_path import cut_path
    from attnviz.experiment.direct import direct
    from attnviz.experiment.edges import edges
    from attnviz.experiment.feeds import feeds
    from attnviz.experiment.from_where import from_where
    from attnviz.experiment.heads import effects
    from attnviz.experiment.lens import lens
    from attnviz.experiment.patching import patching
    from attnviz.experiment.why import why
    from attnviz.export.from_tools.attentions import from_attentions
    from attnviz.export.notebook.show import show
    from attnviz.export.save import read, save
    from attnviz.metrics.table import HeadTable
    from attnviz.models.loaded_model import LoadedModel
    from attnviz.models.loader import load
    from attnviz.models.registry import models
    from attnviz.survey.archive import read_survey
    from attnviz.survey.result import Survey
    from attnviz.survey.run import survey
    from attnviz.types import HeadId, ModelCard, ModelKey, StepView, Tokens

__version__ = "0.1.0"

# public name → the module that defines it; a name that is the end of its own module is the module
_HOME = {
    "AttentionCall": "attnviz.attention.call",
    "AttnVizError": "attnviz.errors",
    "BadInput": "attnviz.errors",
    "BadMask": "attnviz.errors",
    "Cancelled": "attnviz.errors",
    "Capture": "attnviz.attention.capture",
    "CaptureMismatch": "attnviz.errors",
    "Class": "attnviz.experiment.answer_measures",
    "Cosine": "attnviz.experiment.answer_measures",
    "Divergence": "attnviz.experiment.answer_measures",
    "Embedding": "attnviz.embed.run",
    "Generation": "attnviz.capture.generation.settings",
    "HeadId": "attnviz.types",
    "HeadTable": "attnviz.metrics.table",
    "LoadedModel": "attnviz.models.loaded_model",
    "MissingExtra": "attnviz.errors",
    "ModelCard": "attnviz.types",
    "ModelKey": "attnviz.types",
    "ModelNotFound": "attnviz.errors",
    "NextToken": "attnviz.experiment.answer_measures",
    "Sound": "attnviz.audio.sound",
    "StepView": "attnviz.types",
    "Steps": "attnviz.attention.steps",
    "Survey": "attnviz.survey.result",
    "Target": "attnviz.experiment.answer_measures",
    "Tokens": "attnviz.types",
    "TooLarge": "attnviz.errors",
    "UnsupportedAttention": "attnviz.errors",
    "Verification": "attnviz.attention.verification",
    "ablate": "attnviz.changes.make",
    "capture": "attnviz.capture.run",
    "changed": "attnviz.capture.changed.run",
    "changes": "attnviz.changes",
    "compare": "attnviz.compare",
    "cut": "attnviz.changes.make",
    "cut_path": "attnviz.experiment.cut_path",
    "derive": "attnviz.attention.steps",
    "direct": "attnviz.experiment.direct",
    "edges": "attnviz.experiment.edges",
    "effects": "attnviz.experiment.heads",
    "embed": "attnviz.embed.run",
    "feeds": "attnviz.experiment.feeds",
    "figures": "attnviz.figures",
    "from_attentions": "attnviz.export.from_tools.attentions",
    "from_where": "attnviz.experiment.from_where",
    "lens": "attnviz.experiment.lens",
    "load": "attnviz.models.loader",
    "masks": "attnviz.masks",
    "metrics": "attnviz.metrics",
    "models": "attnviz.models.registry",
    "patch": "attnviz.changes.make",
    "patching": "attnviz.experiment.patching",
    "pattern": "attnviz.changes.make",
    "read": "attnviz.export.save",
    "read_survey": "attnviz.survey.archive",
    "record": "attnviz.capture.record.recorder",
    "save": "attnviz.export.save",
    "show": "attnviz.export.notebook.show",
    "survey": "attnviz.survey.run",
    "tiles": "attnviz.tiles",
    "why": "attnviz.experiment.why",
}

__all__ = [
    "AttentionCall",
    "AttnVizError",
    "BadInput",
    "BadMask",
    "Cancelled",
    "Capture",
    "CaptureMismatch",
    "Class",
    "Cosine",
    "Divergence",
    "Embedding",
    "Generation",
    "HeadId",
    "HeadTable",
    "LoadedModel",
    "MissingExtra",
    "ModelCard",
    "ModelKey",
    "ModelNotFound",
    "NextToken",
    "Sound",
    "StepView",
    "Steps",
    "Survey",
    "Target",
    "Tokens",
    "TooLarge",
    "UnsupportedAttention",
    "Verification",
    "ablate",
    "capture",
    "changed",
    "changes",
    "compare",
    "cut",
    "cut_path",
    "derive",
    "direct",
    "edges",
    "effects",
    "embed",
    "feeds",
    "figures",
    "from_attentions",
    "from_where",
    "lens",
    "load",
    "masks",
    "metrics",
    "models",
    "patch",
    "patching",
    "pattern",
    "read",
    "read_survey",
    "record",
    "save",
    "show",
    "survey",
    "tiles",
    "why",
]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'attnviz' has no attribute {name!r}")
    module = import_module(home)
    value = module if home == f"attnviz.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Facade(ModuleType):
    """Keeps `attnviz.capture`, `attnviz.survey` and their like functions.

    They share their names with the packages that hold them, and importing a module of such a
    package would otherwise bind the package in place of the function.
    """

    def __setattr__(self, name: str, value: object) -> None:
        is_package = isinstance(value, ModuleType)
        if not (is_package and _HOME.get(name, "").startswith(f"attnviz.{name}.")):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade
