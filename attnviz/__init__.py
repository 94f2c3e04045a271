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
from types import ModuleType

from attnviz.lazy import names

__version__ = "0.1.0"

# the module that defines them → public names; those of `attnviz` are modules themselves
_HOMES = {
    "attnviz": ("compare", "figures", "masks", "metrics", "tiles"),
    "attnviz.attention.capture": ("Capture",),
    "attnviz.attention.steps": ("derive",),
    "attnviz.audio.sound": ("Sound",),
    "attnviz.capture.changed.run": ("changed",),
    "attnviz.capture.generation.settings": ("Generation",),
    "attnviz.capture.record.recorder": ("record",),
    "attnviz.capture.run": ("capture",),
    "attnviz.changes.make": ("ablate", "cut", "edit", "mask", "patch", "pattern"),
    "attnviz.corpus.embed": ("embed",),
    "attnviz.corpus.survey": ("survey",),
    "attnviz.errors": ("AttnVizError", "BadInput"),
    "attnviz.experiment.answer_measures": ("Class", "Cosine", "Divergence", "NextToken", "Target"),
    "attnviz.experiment.start": ("experiment",),
    "attnviz.experiment.weights_alone.circuits": ("circuits",),
    "attnviz.files.from_tools.attentions": ("from_attentions",),
    "attnviz.files.save": ("read", "save"),
    "attnviz.models.loaded_model": ("LoadedModel",),
    "attnviz.models.loader": ("load",),
    "attnviz.models.registry": ("models",),
    "attnviz.notebook.show": ("show",),
}

__getattr__, __dir__, __all__ = names(__name__, _HOMES)


class _Facade(ModuleType):
    """Keeps `attnviz.capture`, `attnviz.survey` and their like functions.

    They share their names with the packages that hold them, and importing a module of such a
    package would otherwise bind the package in place of the function.
    """

    def __setattr__(self, name: str, value: object) -> None:
        hides = isinstance(value, ModuleType) and name in __all__ and name not in _HOMES["attnviz"]
        if not hides:
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade
