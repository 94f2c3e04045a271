"""The view of this session, and what changes in it: a model, a text, a selection.

In: another `View`, or values by the names of address parameters, checked before. Out: the current
`View`. A change also clears what it makes meaningless: masks and edits belong to the input that
they were made for, the head and cell of one model mean nothing in another.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from typing import Any, NoReturn
from urllib.parse import urlencode

import streamlit as st

from attnviz import i18n
from attnviz.app.session import address, model_cards, routes, store
from attnviz.app.session.view import RightSide, View, default_view
from attnviz.checks import examples
from attnviz.models.registry import REGISTRY
from attnviz.pictures.shared.pages import BEHIND, Door, Page
from attnviz.pictures.shared.selection import LookQuestion, OpenRequest, Selection
from attnviz.types import Kind, Stack

KEPT = "view"
MAX_ADDRESS_BYTES = 60_000
CIRCUIT = ("arrow", "least", "sides")
GEOMETRY = ("tab", "vectors", "turns")
TARGET_WANTED = "target_wanted"
NEW_TEXT = "new_text"


def view() -> View:
    """The view of this session; the default before anything set it."""
    kept = store.get(KEPT)
    return kept if isinstance(kept, View) else default_view()


def language() -> i18n.Language:
    """The language to speak: the chosen one, else the browser's, else English."""
    return view().lang or i18n.negotiate(st.context.locale)


def update(after: View, *, keeps: Collection[str] = ()) -> None:
    """Show another view; the next run writes it into the address.

    Masks, edits and the look at a word that were chosen for another input are dropped, and a look
    that is forbidden in another cell, but for those that the caller `keeps`: "masks", "edits",
    "word", "forbid".
    """
    before = view()
    if "masks" not in keeps and _input(before) != _input(after):
        after = replace(after, drawing=replace(after.drawing, masks=""))
    if "word" not in keeps and before.input != after.input:
        after = replace(after, switches=replace(after.switches, word=""))
    if "forbid" not in keeps and before.place != after.place:
        after = replace(after, inside=after.inside.at(after.place))
    if "edits" not in keeps and _head(before) != _head(after):
        after = replace(after, drawing=replace(after.drawing, edits=""))
    if len(urlencode(address.params(after))) > MAX_ADDRESS_BYTES:
        # no page shows two texts so long
        after = replace(after, right=replace(after.right, text="", target=""))
    store.put(KEPT, after)


def take(values: Mapping[str, Any]) -> None:
    """Take over values by the names of their parameters, which `address` has checked."""
    update(address.changed(view(), values), keeps=values)


def _input(of: View) -> tuple[object, ...]:
    """The input and the attention that masks are laid over."""
    return of.model, of.input, of.generating, of.place.stack, of.place.kind, of.place.window


def _head(of: View) -> tuple[object, ...]:
    """The head whose numbers are edited."""
    return *_input(of), of.place.layer, of.place.head


def open_model(name: str) -> None:
    """Look at another model, from its first head on, with a text that it can read.

    Its paths are shown where those of the last one were, if they are measured without being asked.
    """
    before = view()
    if name == before.model and not before.input.capture:
        return
    text = examples.after_switch(before.model, name, before.input.text)
    blank = before.of_another_model
    is_cut = before.input.cut and text == before.input.text
    update(
        replace(
            blank,
            model=name,
            input=replace(blank.input, text=text, cut=is_cut),
            right=RightSide(model=_right_model(name)),
            circuit=replace(blank.circuit, paths=before.circuit.paths and name in REGISTRY),
        )
    )


def open_model_on(model: str, text: str, **values: str | bool | None) -> None:
    """Look at a model on a text that it does not continue, with these parameters."""
    open_model(model)
    open_text(text)
    generate(0)
    take(values)


def _right_model(left: str) -> str:
    """The right model of Compare beside a new left one; "" if it does not fit, or is the same."""
    right = view().right.model
    kinds = [card.kind for card in map(model_cards.card, (left, right)) if card is not None]
    reads = {kind if kind in ("vision", "speech", "module") else "text" for kind in kinds}
    return "" if right == left or len(reads) > 1 else right


def open_text(text: str) -> None:
    """Show another text; a model that translates runs again on it."""
    now = view()
    read = replace(now.input, text=text, target="", cut=False, file=False, capture="")
    update(replace(now, input=read, place=now.place.without_cell))
    store.put(NEW_TEXT, True)


def open_second(text: str) -> None:
    """Read another second sentence beside the text."""
    take({"text2": text, "cut": False})


def open_image(name: str) -> None:
    """Show the model another picture; a cell of the last one means nothing in it."""
    now = view()
    update(replace(now, input=replace(now.input, image=name), place=now.place.without_cell))


def open_target(target: str) -> None:
    """Feed the decoder another target."""
    now = view()
    update(replace(now, input=replace(now.input, target=target), place=now.place.without_cell))


def read_box() -> None:
    """Read the text of the box again, in place of a file."""
    now = view()
    read = replace(now.input, file=False, cut=False)
    update(replace(now, input=read, place=now.place.without_cell))


def generate(n_tokens: int) -> None:
    """Have the model generate so many tokens."""
    now = view()
    generating = replace(now.generating, n_tokens=n_tokens)
    update(replace(now, generating=generating, place=now.place.without_cell))


def open_capture(digest: str) -> None:
    """Look at a capture file, from its first head on; "" goes back to the model."""
    blank = view().of_another_model
    drawing = replace(blank.drawing, masks="", edits="")
    update(replace(blank, input=replace(blank.input, capture=digest), drawing=drawing))


def open_head(layer: int, head: int, stack: Stack | None = None, kind: Kind | None = None) -> None:
    """Look at a head of an attention, with no cell chosen."""
    now = view()
    place = replace(now.place.without_cell, stack=stack, kind=kind, mean=None)
    update(replace(now, place=replace(place, layer=layer, head=head)))


def open_attention(stack: Stack | None, kind: Kind | None) -> None:
    """Look at another attention of the model, at the same place."""
    take({"stack": stack, "kind": kind})


def go(door: Door) -> NoReturn:
    """Leave for a page with the whole view, or for what is behind a door.

    Look is opened on all heads, on the chosen one, or with a second sentence; Compute on the row,
    or on another face.
    """
    page = routes.page(door)
    given = BEHIND[door][1] if door in BEHIND else {}
    if page == "overview":
        take({name: name in given for name in ("open", "second")})
    elif page == "steps":
        take({"face": given.get("face", "")})
    elif given:
        take(dict.fromkeys(given, True))
    st.switch_page(routes.file(page), query_params=address.params(view()))


def door(page: Page) -> Door:
    """The page, or the face of Compute that is shown, or Look with a second sentence."""
    if page == "overview" and view().drawing.second:
        return "compare"
    return routes.door(page, view().drawing.face)


def opened(page: Page) -> tuple[Door, ...]:
    """The doors of a page that are open and have texts: paths, the whole answer, a face."""
    given = address.params(view()).items()
    return tuple(
        door
        for door, (behind, names) in BEHIND.items()
        if behind == page and door != "head" and names.items() <= given
    )


def want_target() -> None:
    """Have the next run let the model generate the target, up to its own end token."""
    now = view()
    update(
        replace(
            now,
            input=replace(now.input, target=""),
            generating=replace(now.generating, n_tokens=0),
            place=now.place.without_cell,
        )
    )
    store.put(TARGET_WANTED, True)


def target_is_wanted() -> bool:
    """True if the model was asked for its own target; it is asked once."""
    return bool(store.pop(TARGET_WANTED, False))


def take_number(name: str, value: object) -> None:
    """Take over a number that a visitor chose, if it makes sense; no cell is chosen then."""
    number, _ = address.checked(name, value)
    if number is not None:
        take({name: number, "query": None, "key": None})


def take_selection(selection: Selection) -> None:
    """Take over the head and cell that a component committed."""
    take(asdict(selection))


def take_edits(text: str) -> bool:
    """Take over the edits that a component asks for; False if they cannot be read."""
    return _take_all(("edits",), {"edits": text})


def take_switches(text: str) -> bool:
    """Take over the heads that are switched off; False if they cannot be read."""
    return _take_all(("changes",), {"changes": text})


def take_look(text: str) -> bool:
    """Take over the look at a word that is forbidden; False if it cannot be read.

    It takes the place of the look of one cell.
    """
    return _take_all(("word", "forbid"), {"word": text, "forbid": ""})


def take_question(question: LookQuestion) -> None:
    """Take over what is asked of a cell; there is one look that is forbidden."""
    cell = {name: getattr(question, name) for name in address.INDICES}
    asked: dict[str, str | bool] = {"links": question.on}
    if question.ask == "forbid":
        forbidden = f"{question.query}.{question.key}" if question.on else ""
        asked = {"forbid": forbidden, "word": ""}
    take({**cell, **asked})


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
    take(values)
    return True


def take_opened(request: OpenRequest) -> None:
    """Take over the head, and the cell if any, that a visitor opened."""
    take({name: getattr(request, name) for name in address.INDICES})
