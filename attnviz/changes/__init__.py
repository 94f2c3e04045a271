"""Interventions as data: what is done to a head while the model runs, and its text form.

`site` says where, `kinds` what, `make` checks what a caller gives, `text` reads and writes the form
that stands in an address. Nothing here runs a model: `attnviz.capture` and `attnviz.changed` do.
"""

from attnviz.changes.corpus import Corpus
from attnviz.changes.kinds import Ablate, Change, Cut, Mask, Patch, Pattern
from attnviz.changes.make import ablate, cut, mask, patch, pattern
from attnviz.changes.site import Site
from attnviz.changes.text import parse, write

__all__ = [
    "Ablate",
    "Change",
    "Corpus",
    "Cut",
    "Mask",
    "Patch",
    "Pattern",
    "Site",
    "ablate",
    "cut",
    "mask",
    "parse",
    "patch",
    "pattern",
    "write",
]
