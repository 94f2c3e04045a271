"""attnviz: see every attention head of a transformer, and every step of its computation.

    lm = attnviz.load("minilm")
    cap = attnviz.capture(lm, "The cat sat")
    cap.weights("L0.H3")                    # numpy [query, key]
    cap.head("L0.H3").views()               # X → Q, K, V → … → ·W_O, with real numbers
    cap.table().sort("peak", n=5)           # the five heads with the largest weights
    attnviz.save(cap, "run.safetensors")    # .svg, .pdf, .npz, .csv, … by the ending
    run = attnviz.experiment(lm, "The cat sat")
    run.effects()                           # the answer without each head; run.direct(), run.why()

Importing attnviz loads neither torch nor streamlit: names are looked up when first used (PEP 562).
"""

import sys
from importlib import import_module
from types import ModuleType

__version__ = "0.1.0"

# public name → the module that defines it; a name that is the end of its own module is the module.
# `python -m scripts.write_stub` writes the same as imports into __init__.pyi, for type checkers
_HOME = {
    "AttnVizError": "attnviz.errors",
    "BadInput": "attnviz.errors",
    "Capture": "attnviz.attention.capture",
    "Class": "attnviz.experiment.answer_measures",
    "Cosine": "attnviz.experiment.answer_measures",
    "Divergence": "attnviz.experiment.answer_measures",
    "Generation": "attnviz.capture.generation.settings",
    "LoadedModel": "attnviz.models.loaded_model",
    "NextToken": "attnviz.experiment.answer_measures",
    "Sound": "attnviz.audio.sound",
    "Target": "attnviz.experiment.answer_measures",
    "ablate": "attnviz.changes.make",
    "capture": "attnviz.capture.run",
    "changed": "attnviz.capture.changed.run",
    "circuits": "attnviz.experiment.weights_alone.circuits",
    "compare": "attnviz.compare",
    "cut": "attnviz.changes.make",
    "derive": "attnviz.attention.steps",
    "edit": "attnviz.changes.make",
    "embed": "attnviz.corpus.embed",
    "experiment": "attnviz.experiment.run",
    "figures": "attnviz.figures",
    "from_attentions": "attnviz.files.from_tools.attentions",
    "load": "attnviz.models.loader",
    "mask": "attnviz.changes.make",
    "masks": "attnviz.masks",
    "metrics": "attnviz.metrics",
    "models": "attnviz.models.registry",
    "patch": "attnviz.changes.make",
    "pattern": "attnviz.changes.make",
    "read": "attnviz.files.save",
    "record": "attnviz.capture.record.recorder",
    "save": "attnviz.files.save",
    "show": "attnviz.notebook.show",
    "survey": "attnviz.corpus.survey",
    "tiles": "attnviz.tiles",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'attnviz' has no attribute {name!r}")
    module = import_module(home)
    value = module if home == f"attnviz.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


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
