"""The text form of changes, as it stands in an address or on a command line.

    L2.H1.mixed=mean         its output taken away: mean, zero, resample, resample:3 (a seed)
    L0.H1.weights=even       its weights: even, temperature:0.5, @name (a matrix)
    L2.H1.weights.20.7=0!    an edge cut; * for all queries or keys; ! renormalises the row
    L0.H0.v=@other/1         patching: q, k, v, weights or mixed of row 1 of "other"
    L0.H1.mask=@name         another mask

In: such entries with commas between them, and what the names after @ stand for. Out: the changes;
`write` gives the text again. What was typed by a stranger is checked as any input.
"""

import re
from collections.abc import Mapping, Sequence

from attnviz.attention.capture import Capture
from attnviz.changes import make
from attnviz.changes.kinds import PATCHED, Change
from attnviz.errors import BadInput

MAX_CHANGES = 1024
MAX_TEXT_CHARS = 20_000
ENTRY = re.compile(
    r"(?P<site>(?:[a-z]+\.){0,2}L[0-9]{1,4}(?:\.H[0-9]{1,4})?)"
    r"\.(?P<stage>q|k|v|mask|weights|mixed)"
    r"(?P<at>(?:\.(?:[0-9]{1,5}|\*)){0,2})=(?P<to>[^,=]{1,64})"
)
GIVEN = re.compile(rf"@(?P<name>{make.NAME.pattern})(?:/(?P<row>[0-9]{{1,4}}))?")


def write(changes: Sequence[Change]) -> str:
    """The text form of changes; captures and matrices appear by their name."""
    return ",".join(map(str, changes))


def parse(
    text: str, given: Mapping[str, object] | None = None, corpus: object = None
) -> tuple[Change, ...]:
    """The changes of a text form; `given` has the captures and matrices that it names.

    Raises `BadInput` for anything that is not in the form above.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise _bad(text[:40] + "…", f"longer than {MAX_TEXT_CHARS} characters")
    entries = list(filter(None, text.split(",")))
    if len(entries) > MAX_CHANGES:
        raise _bad(text[:40] + "…", f"more than {MAX_CHANGES} changes")
    return tuple(_parsed(entry, given or {}, corpus) for entry in entries)


def _parsed(entry: str, values: Mapping[str, object], corpus: object) -> Change:
    match = ENTRY.fullmatch(entry)
    if match is None:
        raise _bad(entry, "it is none of the forms")
    where, stage, to = match["site"], match["stage"], match["to"]
    at = match["at"].split(".")[1:]
    if stage == "weights" and len(at) == 2 and to in ("0", "0!"):
        query, key = (None if part == "*" else int(part) for part in at)
        return make.cut(where, query, key, renormalise=to == "0!")
    if "*" in at or len(at) > 1:
        raise _bad(entry, "only the weights of an edge have two positions, and they become 0 or 0!")
    position = int(at[0]) if at else None
    named = GIVEN.fullmatch(to)
    if named is not None:
        row = int(named["row"] or 0)
        return _from_given(entry, where, stage, position, named["name"], row, values)
    if position is None and stage == "mixed":
        return _ablation(entry, where, to, corpus)
    if position is None and stage == "weights":
        return _pattern(entry, where, to)
    raise _bad(entry, f"{stage} cannot become {to!r}")


def _ablation(entry: str, where: str, to: str, corpus: object) -> Change:
    kind, _, seed = to.partition(":")
    if seed and not (kind == "resample" and seed.isascii() and seed.isdigit() and len(seed) < 10):
        raise _bad(entry, f"{to!r} is not mean, zero, resample or resample:seed")
    used = None if kind == "zero" else corpus
    return make.ablate(where, kind, corpus=used, seed=int(seed or 0))


def _pattern(entry: str, where: str, to: str) -> Change:
    kind, colon, number = to.partition(":")
    if kind != "temperature" or not colon:
        return make.pattern(where, to)
    try:
        temperature = float(number)
    except ValueError as error:
        raise _bad(entry, f"{number!r} is not a number") from error
    return make.pattern(where, temperature=temperature)


def _from_given(
    entry: str,
    where: str,
    stage: str,
    position: int | None,
    name: str,
    row: int,
    values: Mapping[str, object],
) -> Change:
    """A change that names a capture or a matrix."""
    if name not in values:
        known = ", ".join(values) or "none"
        raise _bad(entry, f"nothing is called {name!r} here; there is: {known}")
    value = values[name]
    if stage in PATCHED and isinstance(value, Capture):
        return make.patch(where, value, stage, batch=row, position=position, name=name)
    if row or position is not None:
        raise _bad(entry, f"{name!r} is not a capture: it has no rows or positions")
    if stage == "mask":
        return make.mask(where, value, name=name)
    if stage == "weights":
        return make.pattern(where, value, name=name)
    raise _bad(entry, f"{name!r} is not a capture to keep {stage} from")


def _bad(entry: str, reason: str) -> BadInput:
    return BadInput(
        f"the change {entry!r} cannot be read: {reason}; write it as L2.H1.mixed=mean,"
        " L0.H1.weights=even or L2.H1.weights.20.7=0!, with commas between several",
        code="bad_change_text",
        asked=entry,
        reason=reason,
    )
