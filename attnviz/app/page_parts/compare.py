"""Compare: two captures side by side, paired token by token, and how their heads differ.

In: what is shown on the left, and the view. Out: the widgets of both sides, the component `pair`
with the weights of every head of both, and the verification. What the view does not name on the
right is as on the left; a text or picture that is not named is one that differs a little from the
left one. Widgets show the view and change it; none holds a value of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import streamlit as st
from PIL.Image import Image

from attnviz import compare
from attnviz.app.bar import menus
from attnviz.app.frame import attention_choice, capture_of_view, frame, notices, strip, take
from attnviz.app.frame.choices import renew_links
from attnviz.app.host.draw import draw
from attnviz.app.server import captures, opened_captures, sources
from attnviz.app.session import (
    address,
    address_bar,
    current,
    messages,
    model_cards,
    model_images,
    sounds,
    store,
    uploads,
    view_request,
    widgets,
)
from attnviz.app.session.fragment import fragment
from attnviz.app.session.messages import plain
from attnviz.app.session.model_cards import READS_NO_TEXT, READS_PICTURES
from attnviz.app.session.view import RightSide
from attnviz.capture.request import Request
from attnviz.checks import examples
from attnviz.compare import Pairing
from attnviz.errors import BadInput
from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures import pair as component
from attnviz.pictures import strip as strip_picture
from attnviz.pictures.group import groups
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.groups import MAX_CELLS, chosen
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.heads import TokenAxis
from attnviz.pictures.shared.selection import Extent, parse_selection
from attnviz.tokens import words
from attnviz.types import ModelCard

# tokens of a side, half a minute of frames; more are not legible there
MAX_PAIRED = 1536
PREVIEW_PX = 96
N_SAMPLES = 6
NAMING = "naming_b"
OTHER = "…"  # in the list of models: one to be named in a box of its own
NOWHERE: Mapping[int, int] = {}
SAME = ""  # in place of a model's name: the left one


@dataclass(frozen=True)
class Side:
    """The input of one side; `target` is fed to a decoder as if it had generated it."""

    model: str
    text: str
    target: str
    image: str


def show(left: PageContext) -> tuple[PageContext, PageContext] | None:
    """Both sides and their difference; in a frame without the choice of the sides.

    Returns what was shown; None where a side is missing, and in a frame.
    """
    if address_bar.is_embedded():
        beside = captured_side(left.lang, right_side())
        if beside is not None:
            _compared(left, right_attention(left, beside))
            frame.ends(left)
        return None
    side = right_side()
    right = _right(left, side)
    if right is None:
        return None
    left = attention_choice.choice(left)
    both = left, right_attention(left, right)
    if current.view().inside.forbid:
        st.caption(text(left.lang, "compare.forbids_nothing"))
    if left.key == both[1].key and _may_change(both[1]):
        st.caption(text(left.lang, "compare.same_text"))
    _compared(*both)
    take.offer(left, "compare", right=both[1], right_text=side.text)
    return both


def verification(both: tuple[PageContext, PageContext]) -> None:
    """Say how far our numbers are from the model's own, on the worse side."""
    frame.verification(max(both, key=lambda shown: shown.captured.accuracy.doubt))


@fragment()
def _compared(left: PageContext, right: PageContext) -> None:
    with messages.guard(left.lang):
        for side in (left, right):
            side.captured.capture.require_all_heads()
        if not _fits(left, right):
            return
        extents = (left.size.extent, right.size.extent)
        draw(
            component.CANVAS,
            lambda: _view(left, right),
            "pair",
            left.lang,
            {"selection": _keep_selection(*extents)},
            kept=str([left.key, right.key]),
        )


def _fits(left: PageContext, right: PageContext) -> bool:
    """True if both sides fit into a browser; else says which limit they are over."""
    n_longest = max(left.size.n_longest, right.size.n_longest)
    n_cells = left.size.n_cells + right.size.n_cells
    if n_longest <= MAX_PAIRED and n_cells <= MAX_CELLS:
        return True
    notices.too_long(
        left.lang,
        "pair",
        tokens=n_longest,
        cells=round(n_cells / 1e6),
        longest=MAX_PAIRED,
        limit=round(MAX_CELLS / 1e6),
    )
    return False


def _view(left: PageContext, right: PageContext) -> component.PairView:
    a, b, same = left.group, right.group, _same_vocabulary(left.captured, right.captured)
    identical = left.key == right.key
    queries = compare.pair(groups.queries(a), groups.queries(b), same)
    keys = compare.pair(groups.keys(a), groups.keys(b), same)
    weights = (
        words.merged(groups.stacked(a), queries.a, keys.a),
        words.merged(groups.stacked(b), queries.b, keys.b),
    )
    alike = (
        left.captured.name == right.captured.name and weights[0].shape[:2] == weights[1].shape[:2]
    )
    moved = None
    if alike and not identical:
        moved = compare.moved_by_head(*weights, queries.slots, keys.slots)
    cross = a.cross or b.cross
    return component.PairView(
        a=_side(left, (queries, keys), "a", weights[0], cross),
        b=_side(right, (queries, keys), "b", weights[1], cross),
        rows=queries.slots,
        cols=keys.slots,
        cross=cross,
        merged=queries.merged or keys.merged,
        alike=alike,
        only_heads_differ=identical and not _may_change(right),
        moved_rows=moved,
    )


def _side(
    shown: PageContext,
    pairings: tuple[Pairing, Pairing],
    side: Literal["a", "b"],
    weights: np.ndarray,
    cross: bool,
) -> component.SideView:
    """One side as the component shows it; merged pieces take the place of tokens."""
    queries, keys = (paired.a if side == "a" else paired.b for paired in pairings)
    axes = token_axes(shown)
    return component.SideView(
        model=model_title(shown.lang, shown.captured.name),
        queries=_axis(queries, axes[0]),
        keys=_axis(keys, axes[1]),
        cross=cross,
        at_query=tuple(part.start for part in queries),
        at_key=tuple(part.start for part in keys),
        extent=shown.size.extent,
        weights=weights,
    )


def _axis(parts: tuple[compare.Piece, ...], tokens: TokenAxis) -> TokenAxis:
    """The axis of the parts; the row of a part that is one token has the name of its own row."""
    return TokenAxis(
        tuple(part.label for part in parts),
        np.array([part.special for part in parts], dtype=np.bool_),
        np.array([bool(tokens.written[part.start]) for part in parts], dtype=np.bool_),
        tuple(
            tokens.rows[part.start] if part.stop - part.start == 1 else part.label for part in parts
        ),
    )


def _may_change(right: PageContext) -> bool:
    """True if the right side can be given another text or picture."""
    return not shows_capture() and right.captured.model.kind not in ("module", "speech")


def _same_vocabulary(left: AppCapture, right: AppCapture) -> bool:
    """True if equal tokens of both mean the same; patches do if the grids are equal.

    Of a capture without its model, tokens mean those of the model with the same name.
    """
    a, b = left.loaded, right.loaded
    if a is None or b is None:
        return left.name == right.name and left.capture.grid == right.capture.grid
    if a is b or a.kind == b.kind == "vision":
        return left.capture.grid == right.capture.grid
    if a.kind in READS_NO_TEXT or b.kind in READS_NO_TEXT:
        return False
    return bool(a.text_tokenizer().get_vocab() == b.text_tokenizer().get_vocab())


def _keep_selection(left: Extent, right: Extent) -> Callable[[object], None]:
    """A callback that stores the heads of both sides and the cell, and renews the links."""

    def commit(sent: object) -> None:
        selection = parse_selection(sent, left)
        if selection is None or not isinstance(sent, Mapping):
            return
        current.take_selection(selection)
        more = sent.get("more")
        other = component.parse_other(more, right)
        current.take({**other, **component.parse_other_cell(more, right)})
        renew_links()

    return commit


def _right(left: PageContext, side: Side) -> AppCapture | None:
    """The capture of the right side, below the line with its text and its menu."""
    lang, captured = left.lang, None
    with st.container(key=widgets.key("strip.b"), horizontal=True, gap="xsmall"):
        title = plain(model_title(lang, side.model))
        with st.popover(text(lang, "compare.menu", model=title), key=widgets.key("menu.b")):
            _menu(left, side)
        place = st.container(key=widgets.key("strip.b.place"))
        end = st.container(key=widgets.key("strip.b.end"), width="content")
    try:
        captured = captured_side(lang, side)
    finally:  # also where the model refuses the text: it can be changed
        with place:
            _strip(left, side, captured)
        if left.captured.loaded is not None:
            with end:
                _swap_button(left, captured)
    return captured


def _swap_button(left: PageContext, right: AppCapture | None) -> None:
    st.button(
        text(left.lang, "compare.swap"),
        key=widgets.key("swap"),
        type="tertiary",
        icon=":material/swap_vert:",
        on_click=swap,
        args=() if right is None else _paired(left, right),
    )


def _paired(left: PageContext, right: AppCapture) -> tuple[dict[int, int], dict[int, int]]:
    """The positions on the right of rows and of keys that both sides have."""
    a, b = left.group, chosen(right.groups, left.group.stack, left.group.kind)
    same = _same_vocabulary(left.captured, right)
    try:
        pairings = [compare.pair(axis(a), axis(b), same) for axis in (groups.queries, groups.keys)]
    except BadInput:  # two vocabularies on two texts
        return {}, {}
    rows, keys = (
        {
            paired.a[slot.a].start: paired.b[slot.b].start
            for slot in paired.slots
            if slot.a is not None and slot.b is not None
        }
        for paired in pairings
    )
    return rows, keys


def _menu(left: PageContext, side: Side) -> None:
    """The right side's model and picture, and the button that makes it the left one's."""
    lang = left.lang
    _model(lang)
    card = model_cards.card(side.model)
    if not shows_capture() and card is not None and card.kind in READS_PICTURES:
        _picture(lang, side)
    if left.captured.loaded is not None:
        with st.container(horizontal=True):
            st.button(text(lang, "compare.copy"), key=widgets.key("copy"), on_click=copy_to_right)


def _strip(left: PageContext, side: Side, captured: AppCapture | None) -> None:
    """The right side's text as its tokens, to be changed where it is no capture file."""
    lang, card, place = left.lang, model_cards.card(side.model), current.view().right
    shown = None
    if captured is not None:
        group = chosen(captured.groups, place.stack, place.kind)
        shown = PageContext(lang, captured, group)
    texts, beside = (side.text, side.target), token_axes(left)[0].labels
    view = strip.right(lang, card, shown, side.model, texts, shows_capture(), beside)
    draw(strip_picture.CANVAS, view, "strip_b", lang, strip.events(TAKES))


def _model(lang: Language) -> None:
    """The registered models, the visitor's own among them, and a box to name another."""
    named = current.view().right.model
    listed = (SAME, *REGISTRY, *sources.offered())
    own = named not in listed
    same = "opened.same" if current.view().input.capture else "compare.same_model"
    titles = {SAME: text(lang, same), OTHER: text(lang, "menu.other_model")}
    # the browser answers with a label: in another language it must be another widget
    widget = f"model_b.{lang}"
    st.selectbox(
        text(lang, "compare.model"),
        list(dict.fromkeys((*listed, named, OTHER))),
        key=widgets.showing(widget, OTHER if _is_naming() else named),
        format_func=lambda model: titles.get(model) or model_title(lang, model),
        on_change=_take_model,
        args=(widget,),
    )
    if own or _is_naming():
        label = text(lang, "compare.model_name")
        menus.name_box(lang, label, "model_name_b", named if own else "", _take_model_name)


def _models() -> tuple[str, str]:
    return current.view().model, current.view().right.model


def _is_naming() -> bool:
    """True if another model was asked for, and none has been named since."""
    return bool(store.get(NAMING) == _models())


def _take_model(widget: str) -> None:
    if widgets.value(widget) == OTHER:
        store.put(NAMING, _models())
    else:
        _open(address.cleaned("model_b", widgets.value(widget)))


def _take_model_name() -> None:
    name = address.cleaned("model_b", widgets.value("model_name_b"))
    if name:
        _open(SAME if name == current.view().model else name)


def _open(name: str) -> None:
    """Open another model on the right; what was chosen in the last one is void."""
    store.put(NAMING, None)
    view = current.view()
    current.update(replace(view, place=view.place.without_cell, right=RightSide(model=name)))


def _take_picture(widget: str) -> None:
    image = address.cleaned("image_b", widgets.value(widget))
    _read(replace(current.view().right, image=image))


def _read(right: RightSide) -> None:
    """Show another input on the right; no cell is chosen then."""
    current.update(replace(current.view(), right=right).without_cell)


def _open_text(typed: str) -> None:
    typed = address.cleaned("text_b", typed)
    _read(replace(current.view().right, text=typed, target=""))


def _open_target(typed: str) -> None:
    _read(replace(current.view().right, target=address.cleaned("target_b", typed)))


TAKES: strip.Takes = {"text_b": _open_text, "target_b": _open_target}


def _picture(lang: Language, side: Side) -> None:
    samples = range(model_images.FIRST_SAMPLE, model_images.FIRST_SAMPLE + N_SAMPLES)
    names = [
        model_images.sample_name(seed) for seed in samples if model_images.is_sampled(side.model)
    ]
    other = left_side().image
    widget = f"image_b.{lang}"
    st.selectbox(
        text(lang, "compare.picture"),
        list(dict.fromkeys((*names, *model_images.DRAWN, other, side.image))),
        key=widgets.showing(widget, side.image),
        format_func=lambda name: _picture_title(lang, name),
        on_change=_take_picture,
        args=(widget,),
    )
    with st.container(horizontal=True):
        for mark, name in (("A", other), ("B", side.image)):
            image = uploads.picture(name)
            if image is not None:
                st.image(image, width=PREVIEW_PX, caption=mark, alt=_picture_title(lang, name))


def _picture_title(lang: Language, name: str) -> str:
    seed = model_images.sample_seed(name)
    if seed is None:
        return text(lang, f"picture.{'drawing' if model_images.is_drawing(name) else name}")
    return text(lang, "compare.sample", number=seed)


def right_attention(left: PageContext, right: AppCapture) -> PageContext:
    """The right side's attention: as on the left unless another one was chosen."""
    place = current.view().right
    stack, kind = place.stack or left.group.stack, place.kind or left.group.kind
    shown = PageContext(left.lang, right, chosen(right.groups, stack, kind))
    attention_choice.selector(shown, "attention_b", _take_attention)
    return shown


def _take_attention(widget: str, groups: Sequence[attention_choice.GroupName]) -> None:
    group = attention_choice.chosen_in(widget, groups)
    if group is not None:
        view = current.view()
        own = RightSide(view.right.model, view.right.text, view.right.target, view.right.image)
        right = replace(own, stack=group.stack, kind=group.kind)
        current.update(replace(view, place=view.place.without_cell, right=right))


def left_side() -> Side:
    """The input that all pages show."""
    view = current.view()
    capture = opened_captures.opened(view.input.capture) if view.input.capture else None
    if capture is not None:
        words = capture.capture.tokens.text
        return Side(capture.name, words, target="", image=uploads.picture_name())
    typed = uploads.input_text() or ""
    return Side(view.model, typed, view.input.target, uploads.picture_name())


def shows_capture() -> bool:
    """True if the right side is the capture file of the left one."""
    view = current.view()
    return bool(view.input.capture) and view.right.model == SAME


def right_side() -> Side:
    """The input that the view asks for on the right."""
    view, other = current.view(), left_side()
    if shows_capture():
        return other
    model = view.right.model or view.model
    typed = view.right.text
    if not typed.strip():  # another model reads the same text, as a model beside a file does
        beside_file = view.input.capture and other.text.strip()
        same = beside_file or model != other.model
        typed = other.text if same else examples.contrast(model, other.text)
    card = model_cards.card(model)
    hears = card is not None and card.kind == "speech"  # both sides have one sound
    same_input = model == view.model and (hears or typed == other.text)
    return Side(
        model=model,
        text=typed,
        target=view.right.target or (other.target if same_input else ""),
        image=view.right.image or model_images.following(other.image),
    )


def captured_side(lang: Language, side: Side) -> AppCapture | None:
    """The right side's capture; None after saying that a picture or sound has to be chosen."""
    if shows_capture():
        return opened_captures.opened(current.view().input.capture)
    source = sources.source(side.model)
    loaded = capture_of_view.load(lang, source, side.model)
    if loaded.kind == "module":
        return captures.recall(source, Request())
    if loaded.kind == "speech":
        sound = sounds.named(current.view().input.sound)
        if sound is None:
            st.info(text(lang, "empty.sound_body"))
            return None
        request = view_request.of_input(loaded.card, sound=sound, target=side.target)
        return captures.recall(source, request)
    if loaded.kind in READS_PICTURES:
        return _of_picture(lang, source, side, loaded.card)
    with st.spinner(text(lang, "wait.capture", characters=len(side.text))):
        return captures.recall(source, _request(source, side, loaded.card))


def _of_picture(
    lang: Language, source: sources.Source, side: Side, card: ModelCard
) -> AppCapture | None:
    image = uploads.picture(side.image)
    if image is None:
        st.info(text(lang, "empty.picture_body"))
        return None
    with st.spinner(text(lang, "wait.picture")):
        return captures.recall(source, _request(source, side, card, image))


def _request(
    source: sources.Source, side: Side, card: ModelCard, image: Image | None = None
) -> Request:
    """The request of the right model; a decoder without a target gets the model's own answer."""
    view, target = current.view(), ""
    if card.kind == "encoder-decoder" and (side.target or not view.generating.n_tokens):
        target = side.target or captures.answer(source, side.text, view.input.cut)
    texts = () if card.kind == "vision" else (side.text,)
    return view_request.of_input(card, texts, image=image, target=target)


def swap(rows: Mapping[int, int] = NOWHERE, keys: Mapping[int, int] = NOWHERE) -> None:
    """Exchange the two sides; what was suggested on the right becomes the left's own input.

    The chosen cell stays: `rows` and `keys` have where the left side's tokens are on the right.
    """
    view, a, b = current.view(), left_side(), right_side()
    place, other = view.place, view.right
    linked = other.layer is None or other.head is None
    current.update(
        replace(
            view,
            model=b.model,
            input=replace(
                view.input,
                text=address.cleaned("text", b.text),
                target=b.target,
                image=_picture_of(b),
                file=False,
            ),
            place=replace(
                place,
                query=other.query if place.query is None else rows.get(place.query),
                key=other.key if place.key is None else keys.get(place.key),
                stack=other.stack,
                kind=other.kind,
                layer=place.layer if linked else other.layer,
                head=place.head if linked else other.head,
            ),
            right=RightSide(
                model=SAME if a.model == b.model else a.model,
                text=address.cleaned("text_b", a.text),
                target=a.target,
                image=_picture_of(a),
                stack=place.stack,
                kind=place.kind,
                layer=None if linked else place.layer,
                head=None if linked else place.head,
                query=None if place.query in rows else place.query,
                key=None if place.key in keys else place.key,
            ),
        )
    )


def _picture_of(side: Side) -> str:
    """The picture of a side, if its model reads pictures."""
    card = model_cards.card(side.model)
    return side.image if card is not None and card.kind in READS_PICTURES else ""


def copy_to_right() -> None:
    """Give the right side the input of the left one, head included."""
    a = left_side()
    right = RightSide(text=address.cleaned("text_b", a.text), image=_picture_of(a))
    current.update(replace(current.view(), right=right))
