"""What a session looks at: one frozen `View`, kept in the session and mirrored in the address.

In: the query parameters of a deep link, widgets' values, and what a component committed; all of it
is checked like user input. Out: the current `View`, and the parameters that restore it elsewhere
(its fields, in their order, under their names; a default is left out).

The address is read on the first run of a session and when the visitor goes back or forward, never
else: on an ordinary rerun the browser reports the parameters that it remembers, and these may be
older than a selection that a component has committed since.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_args

import streamlit as st
from PIL.Image import Image
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz import edits, i18n
from attnviz.errors import AttnVizError, BadInput
from attnviz.lab import sheet
from attnviz.models.labels import without_surrogates
from attnviz.models.registry import REGISTRY
from attnviz.types import Kind, ModelCard, Stack
from attnviz.ui import examples, numbers, pictures
from attnviz.ui.components import options
from attnviz.ui.components.options import Order
from attnviz.ui.components.selection import (
    MEANS,
    SCALES,
    SPECIALS,
    Mean,
    OpenRequest,
    Scale,
    Selection,
    Special,
)

PREFIX = "attnviz."
DEFAULT_MODEL = "minilm"
# all texts percent-encoded (9 bytes for a CJK character) must fit the 64 KiB of a request line,
# or the address could not be opened again
MAX_CHARS = {"text": 6000, "text2": 600, "target": 400}
MAX_NAME_CHARS = 400
FLAGS = ("cut", "file")
INDICES = ("layer", "head", "query", "key")
# what was chosen in one model means nothing in another
UNCHOSEN = {**dict.fromkeys((*INDICES, "stack", "kind", "mean")), "target": ""}
# what edits belong to: a change of any of these leaves nothing that was edited
DRAWING = ("generate", "temperature", "top_k", "top_p", "seed")
EDITED = (*"model text text2 cut file target image stack kind layer head".split(), *DRAWING)
WRITTEN_FORMS: dict[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    "edits": (edits.parse, edits.write),
    "lab": (sheet.parse, sheet.write),
}
CHECKS: tuple[tuple[Mapping[str, Any], Callable[[str, object], tuple[Any, bool]]], ...] = (
    (numbers.COUNTS, numbers.count),
    (numbers.FRACTIONS, numbers.fraction),
    (options.DEFAULTS, options.checked),
)
MAX_CARDS = 8


@dataclass(frozen=True)
class View:
    """Everything that defines what is on screen. The order of fields is that of the address.

    `lang` is None while the browser's locale decides. `cut` asks to keep only the tokens that the
    model can read, `file` to read an uploaded text instead of `text`. `stack` and `kind` choose
    among a model's attentions where it has several; `mean` asks for the mean of a layer's heads, or
    of all, where words are aligned. `target` is what an encoder–decoder is to have written,
    `generate` how many tokens the model is to write itself; a `temperature` above 0 samples them
    from `seed`, with `top_k` (0 = off) and `top_p` (1 = off). `image` is the picture that a vision
    model reads. `query` and `key` are positions, None when no cell is chosen; from `order` on stand
    the `options`. `edits` are entries of the chosen head that were changed by hand; they go when
    another head or input is chosen. `lab` is the sheet of the calculator.
    """

    model: str
    text: str
    text2: str
    cut: bool = False
    file: bool = False
    target: str = ""
    generate: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    image: str = ""
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
    edits: str = ""
    lab: str = ""


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
        value, exact = _checked(name, params[name])
        if not exact:
            rejected.append(name)
        if value is not None:
            found[name] = value
    return found, tuple(rejected)


def _checked(name: str, raw: object) -> tuple[Any, bool]:
    """(the value to use, or None; whether it is exactly what was given)."""
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
        return clean, clean == raw
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
    }
    return (raw, True) if raw in allowed[name] else (None, False)


def clean(name: str, value: object) -> str:
    """What a visitor typed into a text box, as the view may hold it."""
    found, _ = _checked(name, value)
    return found if isinstance(found, str) else ""


def take_number(name: str, value: object) -> None:
    """Take over a number that a visitor chose, where it makes sense; no row is chosen then."""
    found, _ = _checked(name, value)
    if found is not None:
        update(**{name: found, "query": None, "key": None})


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


def current() -> View:
    """The view of this session; the default before anything set it."""
    view = st.session_state.get(f"{PREFIX}view")
    return view if isinstance(view, View) else default_view()


def place() -> tuple[int, int]:
    """The chosen layer and head; the first ones before any were chosen."""
    view = current()
    return view.layer or 0, view.head or 0


def update(**changes: Any) -> None:
    """Change fields of the view; the next run writes them into the address."""
    before = current()
    after = replace(before, **changes)
    if "edits" not in changes and any(
        getattr(before, name) != getattr(after, name) for name in EDITED
    ):
        after = replace(after, edits="")
    st.session_state[f"{PREFIX}view"] = after


def open_model(name: str) -> None:
    """Look at another model, from its first head on, on a text that is fit for it."""
    view = current()
    if name != view.model:
        fitting = examples.after_switch(view.model, name, view.text)
        cut = view.cut and fitting == view.text
        update(**{**UNCHOSEN, "model": name, "text": fitting, "cut": cut})


def open_text(name: str) -> None:
    """Read another text, which the model is to translate anew where it translates."""
    update(text=name, target="", cut=False, file=False, query=None, key=None)


def ask_for_target() -> None:
    """Have the next run let the model write the target, up to its own end token."""
    update(target="", generate=0, query=None, key=None)
    st.session_state[f"{PREFIX}target_asked"] = True


def target_is_asked() -> bool:
    """Whether the model was asked for its own target; it is asked once."""
    return bool(st.session_state.pop(f"{PREFIX}target_asked", False))


def card(name: str) -> ModelCard | None:
    """What is known of a model before it is loaded in this run; None for one never seen."""
    if name in REGISTRY:
        return REGISTRY[name].card
    found: ModelCard | None = st.session_state.get(f"{PREFIX}cards", {}).get(name)
    return found


def learn(name: str, found: ModelCard) -> bool:
    """Remember what a loaded model is; True when that was not known."""
    if card(name) is not None:
        return False
    known = st.session_state.get(f"{PREFIX}cards", {})
    newest = list(known.items())[1 - MAX_CARDS :]
    st.session_state[f"{PREFIX}cards"] = {**dict(newest), name: found}
    return True


def keep(name: str, value: object) -> None:
    """Keep something for this session that is not part of the address."""
    st.session_state[f"{PREFIX}{name}"] = value


def kept(name: str) -> Any:
    """What was kept under this name; None for nothing."""
    return st.session_state.get(f"{PREFIX}{name}")


def keep_picture(image: Image) -> None:
    """Keep what the visitor uploaded or drew, for this session only, and look at it."""
    st.session_state[f"{PREFIX}picture"] = image
    st.session_state[f"{PREFIX}upload_problems"] = {}
    update(image=pictures.OWN, query=None, key=None)


def keep_problem(error: AttnVizError, widget: str) -> None:
    """Keep why the last upload that came from a widget was refused."""
    st.session_state[f"{PREFIX}upload_problems"] = {widget: error}


def upload_problem(widget: str) -> AttnVizError | None:
    """Why the last upload was refused; None when it was not, or came from another widget."""
    found: AttnVizError | None = st.session_state.get(f"{PREFIX}upload_problems", {}).get(widget)
    return found


def picture_name() -> str:
    """The name of the chosen picture; the model's first one where none was chosen."""
    view = current()
    return view.image or pictures.default(view.model)


def picture() -> Image | None:
    """The chosen picture; None when it is an upload that this session does not have."""
    name = picture_name()
    if name != pictures.OWN:
        return pictures.made(name)
    found: Image | None = st.session_state.get(f"{PREFIX}picture")
    return found


def select(chosen: Selection) -> None:
    """Take over what a component committed."""
    update(**asdict(chosen))


def edit(asked: str) -> bool:
    """Take over what a component asks to edit; False for nonsense."""
    found = _checked("edits", asked)[0]
    if found is not None:
        update(edits=found)
    return found is not None


def choose(request: OpenRequest) -> None:
    """Take over the head, and the cell if any, that a visitor opened."""
    update(layer=request.layer, head=request.head, query=request.query, key=request.key)


def adopt_address() -> None:
    """Read the address where it is the newest word: first run of a session, back and forward."""
    first_run = f"{PREFIX}view" not in st.session_state
    if not first_run and not _went_back_or_forward():
        return
    found, rejected = parse(st.query_params.to_dict())
    default = default_view(found.get("model", DEFAULT_MODEL))
    st.session_state[f"{PREFIX}view"] = replace(default, **found)
    st.session_state[f"{PREFIX}rejected"] = rejected
    st.session_state[f"{PREFIX}visit"] = visit() + 1


def _went_back_or_forward() -> bool:
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def only_a_fragment_runs() -> bool:
    """True when this run was asked for by a component alone, not by a change of page or text."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def write_address() -> None:
    """Make the address say what the view is; the browser is told only of a change."""
    wanted = params(current())
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def visit() -> int:
    """How often the address was read in this session."""
    count: int = st.session_state.get(f"{PREFIX}visit", 0)
    return count


def component_key(name: str) -> str:
    """The session key of a component; a new one each time the address was read.

    Under a new key the component mounts anew and reads the address itself.
    """
    return f"{PREFIX}component.{name}.{visit()}"


def component_value(key: str, name: str) -> object:
    """What a component has sent under this name; anything, None for nothing."""
    sent = st.session_state.get(key)
    return sent.get(name) if isinstance(sent, Mapping) else None


def rejected() -> tuple[str, ...]:
    """The parameters of the last address that were replaced because they made no sense."""
    found: tuple[str, ...] = st.session_state.get(f"{PREFIX}rejected", ())
    return found


def language() -> i18n.Language:
    """The language to speak: the chosen one, else the browser's, else English."""
    return current().lang or i18n.negotiate(st.context.locale)


def widget_key(name: str) -> str:
    """The session key of a widget."""
    return f"{PREFIX}widget.{name}"


def show_in_widget(name: str, value: object) -> str:
    """The key of a widget, after making the widget show `value` on its next appearance."""
    key = widget_key(name)
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return key


def widget_value(name: str) -> Any:
    """What the visitor has put into a widget."""
    return st.session_state.get(widget_key(name))
