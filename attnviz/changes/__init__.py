"""Interventions as data: what is done to a head while the model runs, and its text form.

`entry` is the text form of one change, `kinds` the changes, `make` checks what a caller gives, and
`text` reads and writes many. Nothing here runs a model: `attnviz.capture` and `attnviz.changed` do.
The names below are looked up on first use, because `entry` is needed where torch must not be
loaded.
"""

from attnviz.lazy import names

_HOMES = {
    "attnviz.changes.kinds": (
        "Ablate",
        "Change",
        "Corpus",
        "Cut",
        "Edited",
        "Mask",
        "Patch",
        "Pattern",
    ),
    "attnviz.changes.make": ("ablate", "cut", "edit", "mask", "patch", "pattern"),
    "attnviz.changes.text": ("parse", "write"),
    "attnviz.types": ("Site",),
}

__getattr__, __dir__, __all__ = names(__name__, _HOMES)
