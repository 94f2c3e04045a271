"""The address of a view: a table of its query parameters and their checks, read and written.

In: the query parameters of a deep link, checked like user input. Out: a `View`, and the parameters
that restore one elsewhere, in the order of the table; what equals the default is left out. The
names of parameters are a promise: an address that worked once opens the same view for good.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, get_args

from attnviz import i18n
from attnviz.app.server import sources
from attnviz.app.session import model_images
from attnviz.app.session.view import DEFAULT_MODEL, PATCH_STAGES, View, default_view
from attnviz.attention import edits
from attnviz.errors import BadInput
from attnviz.files import capture_file
from attnviz.pictures import circuit, geometry, mask_painter, switches
from attnviz.pictures.pairs import Ask
from attnviz.pictures.shared import numbers, options
from attnviz.pictures.shared.selection import MEANS, SCALES, SPECIALS
from attnviz.pictures.steps import Face
from attnviz.teach.calculator import sheet
from attnviz.teach.lessons.cards import progress
from attnviz.tokens.labels import without_surrogates
from attnviz.types import MEASURES, Kind, Stack

# all texts percent-encoded (9 bytes for a CJK character) must fit the 64 KiB of a request line,
# or the address could not be opened again
KEYS = ("host", "seat")  # of a class
MAX_CHARS = {"text": 6000, "text2": 600, "target": 400}
MAX_NAME_CHARS = 400
SOUNDS = ("", "own")  # the one made here, or an upload
INDICES = ("layer", "head", "query", "key")
SLUG = re.compile(r"[a-z0-9_-]{0,40}")
GUESS = re.compile(r"(\d{1,5}\.\d{1,4})?", re.ASCII)  # a position and a state
CELL = re.compile(r"(\d{1,5}\.\d{1,5})?", re.ASCII)  # a query and a key
DIGEST = re.compile(f"([0-9a-f]{{{capture_file.DIGITS}}})?")
SECRET = re.compile(r"[A-Za-z0-9_-]{0,40}")

# (the value to use, or None for none; True if it is exactly what was given)
Checked = tuple[Any, bool]
Check = Callable[[object], Checked]


@dataclass(frozen=True)
class Parameter:
    """A query parameter: the field of a view's part that it stands for, and its check.

    `part` is "" for a field of the view itself.
    """

    name: str
    part: str
    field: str
    check: Check

    def value(self, view: View) -> Any:
        """The value in a view."""
        return getattr(getattr(view, self.part) if self.part else view, self.field)


# --- checks ------------------------------------------------------------------------------------


def _text(limit: int, raw: object) -> Checked:
    if not isinstance(raw, str):
        return None, False
    clean = without_surrogates(raw)[:limit]
    return clean, clean == raw


def _model(raw: object) -> Checked:
    clean, exact = _text(MAX_NAME_CHARS, raw)
    return (None if clean is None else sources.cleaned(clean)), exact


def _flag(raw: object) -> Checked:
    return (raw == "1", raw in ("0", "1")) if isinstance(raw, str) else (None, False)


def _choice(allowed: tuple[str, ...], raw: object) -> Checked:
    return (raw, True) if isinstance(raw, str) and raw in allowed else (None, False)


def _matching(pattern: re.Pattern[str], raw: object) -> Checked:
    """A name of the right form; a page finds out later if there is such a thing."""
    fits = isinstance(raw, str) and pattern.fullmatch(raw) is not None
    return (raw, True) if fits else (None, False)


def _picture(raw: object) -> Checked:
    return (raw, True) if isinstance(raw, str) and model_images.exists(raw) else (None, False)


def _normalised(parse: Callable[[str], Any], write: Callable[[Any], str], raw: object) -> Checked:
    """A text form, parsed and written again; None if it cannot be parsed, or not once more."""
    if not isinstance(raw, str):
        return None, False
    clean = without_surrogates(raw)
    try:
        written = write(parse(clean))
        parse(written)
    except BadInput:
        return None, False
    return written, clean == raw


# --- the table ---------------------------------------------------------------------------------

_stack, _kind = partial(_choice, get_args(Stack)), partial(_choice, get_args(Kind))
_slug, _secret = partial(_matching, SLUG), partial(_matching, SECRET)
_switches = partial(_normalised, switches.parse, switches.write)
_look = partial(_normalised, switches.ForbiddenLook.parse, str)
_answers = partial(_normalised, progress.parse, progress.write)

# in the order in which they stand in the address
PARAMETERS: Mapping[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter("model", "", "model", _model),
        Parameter("text", "input", "text", partial(_text, MAX_CHARS["text"])),
        Parameter("text2", "input", "text2", partial(_text, MAX_CHARS["text2"])),
        Parameter("cut", "input", "cut", _flag),
        Parameter("file", "input", "file", _flag),
        Parameter("chat", "input", "chat", _flag),
        Parameter("target", "input", "target", partial(_text, MAX_CHARS["target"])),
        Parameter("generate", "generating", "n_tokens", partial(numbers.count, "generate")),
        Parameter(
            "temperature", "generating", "temperature", partial(numbers.fraction, "temperature")
        ),
        Parameter("top_k", "generating", "top_k", partial(numbers.count, "top_k")),
        Parameter("top_p", "generating", "top_p", partial(numbers.fraction, "top_p")),
        Parameter("seed", "generating", "seed", partial(numbers.count, "seed")),
        Parameter("image", "input", "image", _picture),
        Parameter("window", "place", "window", partial(numbers.count, "window")),
        Parameter("sound", "input", "sound", partial(_choice, SOUNDS)),
        Parameter("capture", "input", "capture", partial(_matching, DIGEST)),
        Parameter("lang", "", "lang", partial(_choice, i18n.LANGUAGES)),
        Parameter("stack", "place", "stack", _stack),
        Parameter("kind", "place", "kind", _kind),
        Parameter("mean", "place", "mean", partial(_choice, MEANS)),
        Parameter("layer", "place", "layer", numbers.index),
        Parameter("head", "place", "head", numbers.index),
        Parameter("query", "place", "query", numbers.index),
        Parameter("key", "place", "key", numbers.index),
        Parameter("scale", "drawing", "scale", partial(_choice, SCALES)),
        Parameter("special", "drawing", "special", partial(_choice, SPECIALS)),
        Parameter("order", "drawing", "order", partial(options.checked, "order")),
        Parameter("cells", "drawing", "cells", partial(options.checked, "cells")),
        Parameter("open", "drawing", "open", partial(options.checked, "open")),
        Parameter("second", "drawing", "second", _flag),
        Parameter("face", "drawing", "face", partial(_choice, ("", *get_args(Face)))),
        Parameter("stop", "drawing", "stop", partial(options.checked, "stop")),
        Parameter("sums", "drawing", "sums", partial(options.checked, "sums")),
        Parameter("masks", "drawing", "masks", partial(options.checked, "masks")),
        Parameter("words", "drawing", "words", partial(options.checked, "words")),
        Parameter("top", "drawing", "top", partial(options.checked, "top")),
        Parameter("across", "drawing", "across", partial(options.checked, "across")),
        Parameter("beside", "drawing", "beside", partial(options.checked, "beside")),
        Parameter("edits", "drawing", "edits", partial(_normalised, edits.parse, edits.write)),
        Parameter("changes", "switches", "changes", _switches),
        Parameter("to", "switches", "to", partial(_choice, switches.OFF)),
        Parameter("effects", "switches", "effects", _flag),
        Parameter("word", "switches", "word", _look),
        Parameter("forbid", "inside", "forbid", partial(_matching, CELL)),
        Parameter("edges", "inside", "edges", _flag),
        Parameter("why", "inside", "why", _flag),
        Parameter("links", "inside", "links", _flag),
        Parameter("drawn", "inside", "drawn", partial(_matching, mask_painter.DRAWN)),
        Parameter("answer", "output", "shown", _flag),
        Parameter("lens", "output", "lens", _flag),
        Parameter("patch", "patching", "shown", _flag),
        Parameter("stage", "patching", "stage", partial(_choice, PATCH_STAGES)),
        Parameter("parts", "output", "parts", _flag),
        Parameter("where", "output", "where", _flag),
        Parameter("guess", "output", "guess", partial(_matching, GUESS)),
        Parameter("arrow", "circuit", "path", partial(circuit.checked, "arrow")),
        Parameter("least", "circuit", "least", partial(circuit.checked, "least")),
        Parameter("sides", "circuit", "sides", partial(circuit.checked, "sides")),
        Parameter("paths", "circuit", "paths", _flag),
        Parameter("cut_out", "circuit", "cut_out", _flag),
        Parameter("kept", "circuit", "kept", numbers.index),
        Parameter("tab", "geometry", "tab", partial(geometry.checked, "tab")),
        Parameter("vectors", "geometry", "vectors", partial(geometry.checked, "vectors")),
        Parameter("turns", "geometry", "turns", partial(geometry.checked, "turns")),
        Parameter("measure_x", "atlas", "across", partial(_choice, MEASURES)),
        Parameter("measure_y", "atlas", "up", partial(_choice, MEASURES)),
        Parameter("ask", "pairs", "ask", partial(_choice, get_args(Ask))),
        Parameter("solved", "pairs", "solved", _flag),
        Parameter("pairs", "pairs", "run", _flag),
        Parameter("lab", "", "lab", partial(_normalised, sheet.parse, sheet.write)),
        Parameter("lesson", "learn", "lesson", _slug),
        Parameter("card", "learn", "card", _slug),
        Parameter("values", "learn", "values", _answers),
        Parameter("answers", "learn", "answers", _answers),
        Parameter("room", "classroom", "room", _secret),
        Parameter("host", "classroom", "host", _secret),
        Parameter("seat", "classroom", "seat", _secret),
        Parameter("wall", "classroom", "wall", _flag),
        Parameter("model_b", "right", "model", _model),
        Parameter("text_b", "right", "text", partial(_text, MAX_CHARS["text"])),
        Parameter("target_b", "right", "target", partial(_text, MAX_CHARS["target"])),
        Parameter("image_b", "right", "image", _picture),
        Parameter("stack_b", "right", "stack", _stack),
        Parameter("kind_b", "right", "kind", _kind),
        Parameter("layer_b", "right", "layer", numbers.index),
        Parameter("head_b", "right", "head", numbers.index),
        Parameter("query_b", "right", "query", numbers.index),
        Parameter("key_b", "right", "key", numbers.index),
    )
}


# --- both ways ---------------------------------------------------------------------------------


def checked(name: str, raw: object) -> Checked:
    """The value of a parameter to use, or None; True if it is exactly what was given."""
    return PARAMETERS[name].check(raw)


def cleaned(name: str, typed: object) -> str:
    """The text that a visitor typed, as the view may hold it."""
    value, _ = checked(name, typed)
    return value if isinstance(value, str) else ""


def parse(query: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The values of known parameters, and the names of those that could not be used as given."""
    values: dict[str, Any] = {}
    rejected = []
    for name in PARAMETERS:
        if name not in query:
            continue
        value, exact = checked(name, query[name])
        if not exact:
            rejected.append(name)
        if value is not None:
            values[name] = value
    return values, tuple(rejected)


def changed(view: View, changes: Mapping[str, Any]) -> View:
    """The view with other values of some parameters."""
    by_part: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        parameter = PARAMETERS[name]
        by_part.setdefault(parameter.part, {})[parameter.field] = value
    own = by_part.pop("", {})
    parts = {part: replace(getattr(view, part), **fields) for part, fields in by_part.items()}
    return replace(view, **own, **parts)


def view_of(values: Mapping[str, Any]) -> View:
    """The view of an address: its values, and the defaults of its model for the rest."""
    return changed(default_view(values.get("model", DEFAULT_MODEL)), values)


def params(view: View) -> dict[str, str]:
    """The query parameters that restore a view; what equals the default is left out.

    So are the presenter's key and a member's seat: whoever gets an address must not lead the class
    with it. They are read from addresses that earlier versions wrote.
    """
    return {**_params(view)}


@lru_cache(maxsize=256)
def _params(view: View) -> Mapping[str, str]:
    default = changed(default_view(view.model), {"model": DEFAULT_MODEL})
    values = {
        name: parameter.value(view)
        for name, parameter in PARAMETERS.items()
        if parameter.value(view) != parameter.value(default) and name not in KEYS
    }
    return {name: "1" if value is True else str(value) for name, value in values.items()}
