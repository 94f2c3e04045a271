"""The view of this session, and what changes in it: a model, a text, a selection.

In: changes by the names of address parameters, checked before. Out: the current `View`. A change
also clears what it makes meaningless: masks and edits belong to the input that they were made
for, the head and cell of one model mean nothing in another.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from attnviz import i18n
from attnviz.components.selection import OpenRequest, Selection
from attnviz.ui.session import address, examples, model_cards, store
from attnviz.ui.session.view import View, default_view

KEPT = "view"
MAX_ADDRESS_BYTES = 60_000
NO_POSITION: Mapping[str, None] = {"query": None, "key": None}
# the cell of Compare, where its tokens stand on either side
NO_CELL: Mapping[str, None] = {**NO_POSITION, "query_b": None, "key_b": None}
NO_RIGHT_INPUT: Mapping[str, str] = {"model_b": "", "text_b": "", "target_b": "", "image_b": ""}
NO_RIGHT_PLACE: Mapping[str, None] = dict.fromkeys(
    ("stack_b", "kind_b", "layer_b", "head_b", "query_b", "key_b")
)
# what was chosen in one model means nothing in another
ANOTHER_MODEL: Mapping[str, Any] = {
    **dict.fromkeys((*address.INDICES, "stack", "kind", "mean")),
    **{"target": "", "window": 0, "chat": False, "changes": "", "effects": False, "capture": ""},
    **{"arrow": "", "least": "", "paths": False, "guess": ""},
    **NO_RIGHT_INPUT,
    **NO_RIGHT_PLACE,
}
# a change of any of these leaves no masks, or no edits
GENERATING = ("generate", "temperature", "top_k", "top_p", "seed")
INPUT = (
    *("model", "text", "text2", "cut", "file", "chat", "target", "image", "sound", "capture"),
    *GENERATING,
)
MASKS_BELONG_TO = frozenset((*INPUT, "stack", "kind", "window"))
EDITS_BELONG_TO = frozenset((*MASKS_BELONG_TO, "layer", "head"))
CIRCUIT = ("arrow", "least", "sides")
GEOMETRY = ("tab", "vectors", "turns")
TARGET_WANTED = "target_wanted"


def view() -> View:
    """The view of this session; the default before anything set it."""
    kept = store.get(KEPT)
    return kept if isinstance(kept, View) else default_view()


def language() -> i18n.Language:
    """The language to speak: the chosen one, else the browser's, else English."""
    return view().lang or i18n.negotiate(st.context.locale)


def update(**changes: Any) -> None:
    """Change parameters of the view; the next run writes them into the address."""
    before = view()
    after = address.changed(before, changes)
    moved = {
        name
        for name in changes
        if address.PARAMETERS[name].value(before) != address.PARAMETERS[name].value(after)
    }
    if "masks" not in changes and not moved.isdisjoint(MASKS_BELONG_TO):
        after = address.changed(after, {"masks": ""})
    if "edits" not in changes and not moved.isdisjoint(EDITS_BELONG_TO):
        after = address.changed(after, {"edits": ""})
    if len(urlencode(address.params(after))) > MAX_ADDRESS_BYTES:
        after = address.changed(after, {"text_b": "", "target_b": ""})  # no page shows two so long
    store.put(KEPT, after)


def open_model(name: str) -> None:
    """Look at another model, from its first head on, with a text that it can read."""
    before = view()
    if name == before.model and not before.input.capture:
        return
    text = examples.after_switch(before.model, name, before.input.text)
    update(
        **{
            **ANOTHER_MODEL,
            "model": name,
            "text": text,
            "cut": before.input.cut and text == before.input.text,
            "model_b": _right_model(name),
        }
    )


def _right_model(left: str) -> str:
    """The right model of Compare beside a new left one; "" if it does not fit, or is the same."""
    right = view().right.model
    kinds = [card.kind for card in map(model_cards.card, (left, right)) if card is not None]
    reads = {kind if kind in ("vision", "speech", "module") else "text" for kind in kinds}
    return "" if right == left or len(reads) > 1 else right


def open_text(text: str) -> None:
    """Show another text; a model that translates runs again on it."""
    update(text=text, target="", cut=False, file=False, capture="", **NO_POSITION)


def open_capture(digest: str) -> None:
    """Look at a capture file, from its first head on; "" goes back to the model."""
    update(**{**ANOTHER_MODEL, "masks": "", "edits": "", "capture": digest})


def want_target() -> None:
    """Have the next run let the model generate the target, up to its own end token."""
    update(target="", generate=0, **NO_POSITION)
    store.put(TARGET_WANTED, True)


def target_is_wanted() -> bool:
    """True if the model was asked for its own target; it is asked once."""
    return bool(store.pop(TARGET_WANTED, False))


def take_number(name: str, value: object) -> None:
    """Take over a number that a visitor chose, if it makes sense; no cell is chosen then."""
    number, _ = address.checked(name, value)
    if number is not None:
        update(**{name: number, **NO_POSITION})


def take_selection(selection: Selection) -> None:
    """Take over the head and cell that a component committed."""
    update(**asdict(selection))


def take_edits(text: str) -> bool:
    """Take over the edits that a component asks for; False if they cannot be read."""
    edits, _ = address.checked("edits", text)
    if edits is not None:
        update(edits=edits)
    return edits is not None


def take_switches(text: str) -> bool:
    """Take over the heads that are switched off; False if they cannot be read."""
    changes, _ = address.checked("changes", text)
    if changes is not None:
        update(changes=changes)
    return changes is not None


def take_circuit(choice: object) -> bool:
    """Take over what a visitor has chosen in the graph of heads; False if it makes no sense."""
    return _take_all(CIRCUIT, choice)


def take_geometry(choice: object) -> bool:
    """Take over the tab, the arrows and the positions of Geometry; False if they make no sense."""
    return _take_all(GEOMETRY, choice)


def _take_all(names: tuple[str, ...], choice: object) -> bool:
    """Take over parameters that come together; none if any of them makes no sense."""
    if not isinstance(choice, Mapping):
        return False
    values = {name: address.checked(name, choice.get(name))[0] for name in names}
    if None in values.values():
        return False
    update(**values)
    return True


def take_opened(request: OpenRequest) -> None:
    """Take over the head, and the cell if any, that a visitor opened."""
    update(layer=request.layer, head=request.head, query=request.query, key=request.key)
