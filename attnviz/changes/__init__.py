"""Interventions as data: what is done to a head while the model runs, and its text form.

`entry` is the text form of one change, `kinds` the changes, `make` checks what a caller gives, and
`text` reads and writes many. Nothing here runs a model: `attnviz.capture` and `attnviz.changed` do.
The names below are looked up on first use, because `entry` is needed where torch must not be
loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from attnviz.types import Site

if TYPE_CHECKING:
    from attnviz.changes.kinds import Ablate, Change, Corpus, Cut, Edited, Mask, Patch, Pattern
    from attnviz.changes.make import ablate, cut, edit, mask, patch, pattern
    from attnviz.changes.text import parse, write

__all__ = [
    "Ablate",
    "Change",
    "Corpus",
    "Cut",
    "Edited",
    "Mask",
    "Patch",
    "Pattern",
    "Site",
    "ablate",
    "cut",
    "edit",
    "mask",
    "parse",
    "patch",
    "pattern",
    "write",
]
_HOME = {
    "kinds": ("Ablate", "Change", "Corpus", "Cut", "Edited", "Mask", "Patch", "Pattern"),
    "make": ("ablate", "cut", "edit", "mask", "patch", "pattern"),
    "text": ("parse", "write"),
}


def __getattr__(name: str) -> object:
    home = next((module for module, names in _HOME.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'attnviz.changes' has no attribute {name!r}")
    value: object = getattr(import_module(f"attnviz.changes.{home}"), name)
    return value
