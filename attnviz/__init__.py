"""attnviz: see every attention head of a transformer, and every step of its computation.

    lm = attnviz.load("minilm")
    cap = attnviz.capture(lm, "The cat sat")
    cap.weights(layer=0, head=3)                    # numpy [query, key]
    attnviz.derive(cap.call(0), head=3).views()     # X → Q, K, V → … → ·W_O, with real numbers

Importing attnviz loads neither torch nor streamlit: names are looked up when first used (PEP 562).
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz import figures, masks, metrics, tiles
    from attnviz.attention.call import AttentionCall, Capture
    from attnviz.attention.steps import Steps, derive
    from attnviz.audio.sound import Sound
    from attnviz.capture.generation.settings import Generation
    from attnviz.capture.record.recorder import record
    from attnviz.capture.run import capture
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
    from attnviz.models.loaded import LoadedModel
    from attnviz.models.loader import load
    from attnviz.models.registry import models
    from attnviz.types import HeadId, ModelCard, ModelKey, StepView, Tokens

__version__ = "0.1.0"

# public name → the module that defines it; a name that maps to itself is a module
_HOME = {
    "AttentionCall": "attnviz.attention.call",
    "AttnVizError": "attnviz.errors",
    "BadInput": "attnviz.errors",
    "BadMask": "attnviz.errors",
    "Cancelled": "attnviz.errors",
    "Capture": "attnviz.attention.call",
    "CaptureMismatch": "attnviz.errors",
    "Generation": "attnviz.capture.generation.settings",
    "HeadId": "attnviz.types",
    "LoadedModel": "attnviz.models.loaded",
    "MissingExtra": "attnviz.errors",
    "ModelCard": "attnviz.types",
    "ModelKey": "attnviz.types",
    "ModelNotFound": "attnviz.errors",
    "Sound": "attnviz.audio.sound",
    "StepView": "attnviz.types",
    "Steps": "attnviz.attention.steps",
    "Tokens": "attnviz.types",
    "TooLarge": "attnviz.errors",
    "UnsupportedAttention": "attnviz.errors",
    "capture": "attnviz.capture.run",
    "derive": "attnviz.attention.steps",
    "figures": "attnviz.figures",
    "load": "attnviz.models.loader",
    "masks": "attnviz.masks",
    "metrics": "attnviz.metrics",
    "models": "attnviz.models.registry",
    "record": "attnviz.capture.record.recorder",
    "tiles": "attnviz.tiles",
}

__all__ = [
    "AttentionCall",
    "AttnVizError",
    "BadInput",
    "BadMask",
    "Cancelled",
    "Capture",
    "CaptureMismatch",
    "Generation",
    "HeadId",
    "LoadedModel",
    "MissingExtra",
    "ModelCard",
    "ModelKey",
    "ModelNotFound",
    "Sound",
    "StepView",
    "Steps",
    "Tokens",
    "TooLarge",
    "UnsupportedAttention",
    "capture",
    "derive",
    "figures",
    "load",
    "masks",
    "metrics",
    "models",
    "record",
    "tiles",
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
    """Keeps `attnviz.capture` and `attnviz.models` the public functions that they are.

    They share their names with the packages that hold them, and importing a package's module
    would otherwise bind the package over the function.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in ("capture", "models") and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade
