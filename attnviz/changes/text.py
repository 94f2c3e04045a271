"""The text form of changes, as it stands in an address or on a command line.

    L2.H1.mixed=mean         its output taken away: mean, zero, resample, resample:3 (a seed)
    L0.H1.weights=even       its weights: even, temperature:0.5, @name (a matrix)
    L2.H1.weights.20.7=0!    an edge cut; * for all queries or keys; ! renormalises the row
    L0.H0.v=@other/1         patching: q, k, v, weights or mixed of row 1 of "other"
    L0.H1.mask=causal+window:4   another mask: padding, causal, window, prefix, block, custom, none
    L0.H1.mask=@name         a mask of your own
    L2.H1.q.3.5=0.7          one entry of q, k, v, scores or masked; masked.2.*=-inf is a whole row

In: such entries with commas between them, and what the names after @ stand for. Out: the changes;
`write` gives the text again. What was typed by a stranger is checked as any input.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from attnviz.attention.capture import Capture
from attnviz.attention.edits import EDITABLE, parse_one
from attnviz.changes import make
from attnviz.changes.entry import WrittenChange, read_entry, refused
from attnviz.changes.kinds import PATCHED, Change, CorpusTexts, Edited

Given = Mapping[str, Capture | np.ndarray | Tensor]  # what names after @ stand for
MAX_CHANGES = 1024
MAX_TEXT_CHARS = 20_000
GIVEN = re.compile(rf"@(?P<name>{make.NAME.pattern})(?:/(?P<row>[0-9]{{1,4}}))?")


def write(changes: Sequence[Change]) -> str:
    """The text form of changes; captures and matrices appear by their name."""
    return ",".join(map(str, changes))


def parse(
    text: str,
    given: Given | None = None,
    corpus: CorpusTexts | None = None,
) -> tuple[Change, ...]:
    """The changes of a text form; `given` has the captures and matrices that it names.

    Raises `BadInput` for anything that is not in the form above.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise refused(text, f"longer than {MAX_TEXT_CHARS} characters")
    entries = list(filter(None, text.split(",")))
    if len(entries) > MAX_CHANGES:
        raise refused(text, f"more than {MAX_CHANGES} changes")
    return tuple(_made(read_entry(entry), given or {}, corpus) for entry in entries)


def _made(entry: WrittenChange, values: Given, corpus: CorpusTexts | None) -> Change:
    if entry.stage == "weights" and len(entry.at) == 2 and entry.to in ("0", "0!"):
        return make.cut(entry.site, *entry.at, renormalise=entry.to == "0!")
    if entry.stage in EDITABLE and len(entry.at) == 2 and entry.site.head is not None:
        return Edited(entry.site, parse_one(entry.of_head))
    if None in entry.at or len(entry.at) > 1:
        reason = "two positions name an edge of weights, which becomes 0 or 0!, or one edited entry"
        raise refused(entry, reason)
    named = GIVEN.fullmatch(entry.to)
    if named is not None:
        return _from_given(entry, named["name"], int(named["row"] or 0), values)
    if not entry.at and entry.stage == "mixed":
        return _ablation(entry, corpus)
    if not entry.at and entry.stage == "weights":
        return _pattern(entry)
    if not entry.at and entry.stage == "mask":
        return make.mask(entry.site, entry.to)
    raise refused(entry, f"{entry.stage} cannot become {entry.to!r}")


def _ablation(entry: WrittenChange, corpus: CorpusTexts | None) -> Change:
    kind, _, seed = entry.to.partition(":")
    if seed and not (kind == "resample" and seed.isascii() and seed.isdigit() and len(seed) < 10):
        raise refused(entry, f"{entry.to!r} is not mean, zero, resample or resample:seed")
    used = None if kind == "zero" else corpus
    return make.ablate(entry.site, kind, corpus=used, seed=int(seed or 0))


def _pattern(entry: WrittenChange) -> Change:
    kind, colon, number = entry.to.partition(":")
    if kind != "temperature" or not colon:
        return make.pattern(entry.site, entry.to)
    try:
        temperature = float(number)
    except ValueError as error:
        raise refused(entry, f"{number!r} is not a number") from error
    return make.pattern(entry.site, temperature=temperature)


def _from_given(entry: WrittenChange, name: str, row: int, values: Given) -> Change:
    """A change that names a capture or a matrix."""
    if name not in values:
        known = ", ".join(values) or "none"
        raise refused(entry, f"nothing is called {name!r} here; there is: {known}")
    value, position = values[name], next(iter(entry.at), None)
    if isinstance(value, Capture):
        if entry.stage not in PATCHED:
            raise refused(entry, f"{name!r} is a capture, of which {', '.join(PATCHED)} are kept")
        return make.patch(entry.site, value, entry.stage, batch=row, position=position, name=name)
    if row or position is not None:
        raise refused(entry, f"{name!r} is not a capture: it has no rows or positions")
    if entry.stage == "mask":
        return make.mask(entry.site, value, name=name)
    if entry.stage == "weights":
        return make.pattern(entry.site, value, name=name)
    raise refused(entry, f"{name!r} is not a capture to keep {entry.stage} from")
