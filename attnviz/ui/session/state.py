"""What a session looks at: one frozen `View`, kept in the session and mirrored in the address.

In: the query parameters of a deep link, widgets' values, and what a component committed; all of it
is checked like user input. Out: the current `View` (defined by `view`, whose names are here too).

The address is read on the first run of a session and when the visitor goes back or forward, never
else: on an ordinary rerun the browser reports the parameters that it remembers, and these may be
older than a selection that a component has committed since.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from PIL.Image import Image
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz import i18n
from attnviz.components.selection import OpenRequest, Selection
from attnviz.errors import AttnVizError
from attnviz.models.registry import REGISTRY
from attnviz.types import ModelCard
from attnviz.ui.session import examples, pictures
from attnviz.ui.session.view import (
    DEFAULT_MODEL,
    INDICES,
    MAX_CHARS,
    MAX_NAME_CHARS,
    View,
    checked,
    default_view,
    params,
    parse,
)

__all__ = [
    "DEFAULT_MODEL",
    "MAX_CHARS",
    "MAX_NAME_CHARS",
    "View",
    "default_view",
    "params",
    "parse",
]

PREFIX = "attnviz."
RIGHT_TEXTS = {"model_b": "", "text_b": "", "target_b": "", "image_b": ""}
RIGHT_PLACE = dict.fromkeys(("stack_b", "kind_b", "layer_b", "head_b", "query_b", "key_b"))
# the cell of Compare, where its tokens stand on either side
NO_CELL: dict[str, Any] = dict.fromkeys(("query", "key", "query_b", "key_b"))
# what was chosen in one model means nothing in another
UNCHOSEN = {
    **dict.fromkeys((*INDICES, "stack", "kind", "mean")),
    **{"target": "", "window": 0, "chat": False, **RIGHT_TEXTS, **RIGHT_PLACE},
}
MAX_ADDRESS_BYTES = 60_000
# what masks and edits belong to: a change of any leaves nothing of what was drawn or edited
DRAWING = ("generate", "temperature", "top_k", "top_p", "seed")
MASKED = (*"model text text2 cut file chat target image stack kind window sound".split(), *DRAWING)
EDITED = (*MASKED, "layer", "head")
MAX_CARDS = 8
AGAIN = "again"  # fragments that the page wants to run again after each choice in a picture


def clean(name: str, value: object) -> str:
    """What a visitor typed into a text box, as the view may hold it."""
    found, _ = checked(name, value)
    return found if isinstance(found, str) else ""


def take_number(name: str, value: object) -> None:
    """Take over a number that a visitor chose, where it makes sense; no row is chosen then."""
    found, _ = checked(name, value)
    if found is not None:
        update(**{name: found, "query": None, "key": None})


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
    moved = {name for name in changes if getattr(before, name) != getattr(after, name)}
    if "masks" not in changes and not moved.isdisjoint(MASKED):
        after = replace(after, masks="")
    if "edits" not in changes and not moved.isdisjoint(EDITED):
        after = replace(after, edits="")
    if len(urlencode(params(after))) > MAX_ADDRESS_BYTES:  # two texts that no page shows at once
        after = replace(after, text_b="", target_b="")
    st.session_state[f"{PREFIX}view"] = after


def open_model(name: str) -> None:
    """Look at another model, from its first head on, on a text that is fit for it."""
    view = current()
    if name != view.model:
        fitting = examples.after_switch(view.model, name, view.text)
        cut = view.cut and fitting == view.text
        kept = {"model_b": _still_beside(name)}
        update(**{**UNCHOSEN, "model": name, "text": fitting, "cut": cut, **kept})


def _still_beside(name: str) -> str:
    """Compare's other model, where another one comes to its side; "" where these two are one, or
    are known to read different things."""
    other = current().model_b
    known = [found.kind for found in (card(name), card(other)) if found is not None]
    reads = {kind if kind in ("vision", "speech", "module") else "text" for kind in known}
    return "" if other == name or len(reads) > 1 else other


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


def no_problem() -> None:
    """Forget why an upload was refused."""
    st.session_state[f"{PREFIX}upload_problems"] = {}


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


def picture(name: str = "") -> Image | None:
    """A picture, the chosen one first; None when it is an upload that this session has not."""
    name = name or picture_name()
    if name != pictures.OWN:
        return pictures.made(name)
    found: Image | None = st.session_state.get(f"{PREFIX}picture")
    return found


def select(chosen: Selection) -> None:
    """Take over what a component committed."""
    update(**asdict(chosen))


def edit(asked: str) -> bool:
    """Take over what a component asks to edit; False for nonsense."""
    found = checked("edits", asked)[0]
    if found is not None:
        update(edits=found)
    return found is not None


def choose(request: OpenRequest) -> None:
    """Take over the head, and the cell if any, that a visitor opened."""
    update(layer=request.layer, head=request.head, query=request.query, key=request.key)


def adopt_address() -> None:
    """Read the address where it is the newest word: first run of a session, back and forward."""
    st.session_state[f"{PREFIX}run"] = _run() + 1
    first_run = f"{PREFIX}view" not in st.session_state
    if not first_run and not _went_back_or_forward():
        return
    found, rejected = parse(st.query_params.to_dict())
    default = default_view(found.get("model", DEFAULT_MODEL))
    st.session_state[f"{PREFIX}view"] = replace(default, **found)
    st.session_state[f"{PREFIX}rejected"] = rejected
    st.session_state[f"{PREFIX}visit"] = visit() + 1


def _run() -> int:
    """How often the whole app ran in this session; a fragment's own runs do not count."""
    count: int = st.session_state.get(f"{PREFIX}run", 0)
    return count


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


def reject(*names: str) -> None:
    """Count parameters among those that made no sense: what only a page can know of."""
    st.session_state[f"{PREFIX}rejected"] = tuple(dict.fromkeys((*rejected(), *names)))


def language() -> i18n.Language:
    """The language to speak: the chosen one, else the browser's, else English."""
    return current().lang or i18n.negotiate(st.context.locale)


def widget_key(name: str) -> str:
    """The session key of a widget."""
    return f"{PREFIX}widget.{name}"


def show_in_widget(name: str, value: object) -> str:
    """The key of a widget, after making the widget show `value` on its next appearance.

    Options in another language are another widget to the browser, which has to be told anew; so is
    a widget that was not there in the last run: Streamlit keeps what it was told in a run that
    ended early, the browser has forgotten it.
    """
    key, told, now = widget_key(name), f"{PREFIX}told.{name}", (_run(), language())
    run, lang = st.session_state.get(told, now)
    known = key in st.session_state and lang == now[1] and run >= now[0] - 1
    if not known or st.session_state[key] != value:
        st.session_state[key] = value
    st.session_state[told] = now
    return key


def widget_value(name: str) -> Any:
    """What the visitor has put into a widget."""
    return st.session_state.get(widget_key(name))
