"""Everything that defines what is on screen, as a frozen `View`, and its form in the address.

In: the query parameters of a deep link, checked like user input. Out: fields of a `View`, and the
parameters that restore one elsewhere (its fields, in their order, under their names; a default is
left out). What a session looks at now is kept by `state`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, get_args

from attnviz import i18n
from attnviz.attention import edits
from attnviz.components import numbers, options
from attnviz.components.options import Order
from attnviz.components.selection import MEANS, SCALES, SPECIALS, Mean, Scale, Special
from attnviz.errors import BadInput
from attnviz.lab import sheet
from attnviz.lessons.cards import progress
from attnviz.tokens.labels import without_surrogates
from attnviz.types import Kind, Stack
from attnviz.ui.server import sources
from attnviz.ui.session import examples, pictures

DEFAULT_MODEL = "minilm"
# all texts percent-encoded (9 bytes for a CJK character) must fit the 64 KiB of a request line,
# or the address could not be opened again
MAX_CHARS = {"text": 6000, "text2": 600, "target": 400}
MAX_NAME_CHARS = 400
SOUNDS = ("", "own")  # the one made here, or an upload
FLAGS = ("cut", "file", "chat")
INDICES = ("layer", "head", "query", "key")
RIGHT = "_b"  # ends the names of Compare's right side; each is checked as the one of the left
WRITTEN_FORMS: dict[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    "edits": (edits.parse, edits.write),
    "lab": (sheet.parse, sheet.write),
    "values": (progress.parse, progress.write),
    "answers": (progress.parse, progress.write),
}
SLUGS = dict.fromkeys(("lesson", "card"))
SLUG = re.compile(r"[a-z0-9_-]{0,40}")
SECRETS = dict.fromkeys(("room", "host", "seat"))
SECRET = re.compile(r"[A-Za-z0-9_-]{0,40}")


def _slug(name: str, raw: object) -> tuple[Any, bool]:
    """The name of a lesson, or of a card; whether there is one of that name is seen later."""
    fits = isinstance(raw, str) and SLUG.fullmatch(raw) is not None
    return (raw, True) if fits else (None, False)


def _secret(name: str, raw: object) -> tuple[Any, bool]:
    """A class's code, its presenter's key or a member's id; what it opens is seen later."""
    fits = isinstance(raw, str) and SECRET.fullmatch(raw) is not None
    return (raw, True) if fits else (None, False)


CHECKS: tuple[tuple[Mapping[str, Any], Callable[[str, object], tuple[Any, bool]]], ...] = (
    (numbers.COUNTS, numbers.count),
    (numbers.FRACTIONS, numbers.fraction),
    (options.DEFAULTS, options.checked),
    (SLUGS, _slug),
    (SECRETS, _secret),
)


@dataclass(frozen=True)
class View:
    """Everything that defines what is on screen. The order of fields is that of the address.

    `lang` is None while the browser's locale decides. `cut` asks to keep only the tokens that the
    model can read, `file` to read an uploaded text instead of `text`, `chat` to give it to a model
    that chats as a message. `stack` and `kind` choose
    among a model's attentions where it has several; `mean` asks for the mean of a layer's heads, or
    of all, where words are aligned. `target` is what an encoder–decoder is to have written,
    `generate` how many tokens the model is to write itself; a `temperature` above 0 samples them
    from `seed`, with `top_k` (0 = off) and `top_p` (1 = off). `image` is the picture that a vision
    model reads, `window` the part of it that is looked at where layers attend inside windows,
    `sound` what a speech model hears.
    `query` and `key` are positions, None when no cell is chosen; from `order` on stand
    the `options`, `masks` among them: those laid over the scores, "" for the model's own; they go
    with the input they were chosen for. `edits` are entries of the chosen head that were changed by
    hand; they go when another head or input is chosen. `lab` is the sheet of the calculator. Names
    that end in "_b" are those of Compare's right side; what is empty there is as on the left, or
    suggested. `query_b` and `key_b` are the cell's where the left side has no such token.
    """

    model: str
    text: str
    text2: str
    cut: bool = False
    file: bool = False
    chat: bool = False
    target: str = ""
    generate: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    image: str = ""
    window: int = 0
    sound: str = ""
    lang: i18n.Language | None = None
    stack: Stack | None = None
    kind: Kind | None = None
    mean: Mean | None = None
    layer: int | None = None
    head: int | None = None
    query: int | None = None
    key: int | None = None
    scale: Scale = "sqrt"
    special: Special = "show"
    order: Order = "layer"
    cells: bool = False
    sums: bool = False
    masks: str = ""
    words: bool = False
    top: int = 8
    across: bool = False
    beside: str = ""
    edits: str = ""
    lab: str = ""
    lesson: str = ""
    card: str = ""
    values: str = ""
    answers: str = ""
    room: str = ""
    host: str = ""
    seat: str = ""
    model_b: str = ""
    text_b: str = ""
    target_b: str = ""
    image_b: str = ""
    stack_b: Stack | None = None
    kind_b: Kind | None = None
    layer_b: int | None = None
    head_b: int | None = None
    query_b: int | None = None
    key_b: int | None = None


def default_view(model: str = DEFAULT_MODEL) -> View:
    """What an address that names a model alone shows: the model's first example."""
    second = i18n.text("en", "example.second")
    return View(model=model, text=examples.texts(model)[0], text2=second)


def parse(params: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(fields of a `View`, names of the parameters that could not be used as they were)."""
    found: dict[str, Any] = {}
    rejected = []
    for name in (field.name for field in fields(View)):
        if name not in params:
            continue
        value, exact = checked(name, params[name])
        if not exact:
            rejected.append(name)
        if value is not None:
            found[name] = value
    return found, tuple(rejected)


def checked(name: str, raw: object) -> tuple[Any, bool]:
    """(the value to use, or None; whether it is exactly what was given)."""
    name = name.removesuffix(RIGHT)
    if name in INDICES:
        return numbers.index(raw)
    for among, check in CHECKS:
        if name in among:
            return check(name, raw)
    if not isinstance(raw, str):
        return None, False
    if name in MAX_CHARS:
        clean = without_surrogates(raw)[: MAX_CHARS[name]]
        return clean, clean == raw
    if name == "model":
        clean = without_surrogates(raw)[:MAX_NAME_CHARS]
        return sources.cleaned(clean), clean == raw
    if name in WRITTEN_FORMS:
        return _rewritten(raw, *WRITTEN_FORMS[name])
    if name in FLAGS:
        return (raw == "1"), raw in {"0", "1"}
    if name == "image":
        return (raw, True) if pictures.exists(raw) else (None, False)
    allowed: dict[str, tuple[str, ...]] = {
        "lang": i18n.LANGUAGES,
        "stack": get_args(Stack),
        "kind": get_args(Kind),
        "mean": MEANS,
        "scale": SCALES,
        "special": SPECIALS,
        "sound": SOUNDS,
    }
    return (raw, True) if raw in allowed[name] else (None, False)


def _rewritten(
    raw: str, parse: Callable[[str], Any], write: Callable[[Any], str]
) -> tuple[str | None, bool]:
    """What has a text form of its own, in that form; nothing where it is nonsense."""
    try:
        return write(parse(raw)), True
    except BadInput:
        return None, False


def params(view: View) -> dict[str, str]:
    """The query parameters that restore a view; what equals the default is left out."""
    default = replace(default_view(view.model), model=DEFAULT_MODEL)
    changed = {
        field.name: getattr(view, field.name)
        for field in fields(View)
        if getattr(view, field.name) != getattr(default, field.name)
    }
    return {name: "1" if value is True else str(value) for name, value in changed.items()}
