"""The widgets of Compare's two sides: the input of the left, and what is chosen on the right.

In: both sides. Out: widgets that show the view and change it; as in the sidebar, none holds a value
of its own.
"""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attnviz.app.compare import right_side
from attnviz.app.compare.right_side import SAME, Side
from attnviz.app.frame import attention_choice, text_box
from attnviz.app.session import (
    address,
    current,
    drawings,
    model_cards,
    pictures,
    store,
    uploads,
    widgets,
)
from attnviz.app.session.labels import READS_NO_TEXT, READS_PICTURES
from attnviz.app.session.messages import plain
from attnviz.app.session.view import RightSide
from attnviz.app.sidebar import sidebar
from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import chosen
from attnviz.pictures.group.titles import model_title
from attnviz.types import ModelKind

TEXT_HEIGHT_PX = 82
PREVIEW_PX = 96
N_SAMPLES = 6
NAMING = "naming_b"
OTHER = "…"  # in the list of models: one to be named in a box of its own


def left(shown: PageContext) -> None:
    """The input of the left side, and the buttons that change both sides."""
    lang, side = shown.lang, right_side.left()
    st.markdown(text(lang, "compare.side", model=plain(model_title(lang, side.model))))
    st.caption(text(lang, "compare.left"))
    loaded = shown.captured.loaded
    if side.text.strip() if loaded is None else loaded.kind not in READS_NO_TEXT:
        st.markdown(text(lang, "compare.quote", text=plain(side.text.strip())))
    if loaded is None:
        return
    with st.container(horizontal=True):
        for name, act in (("swap", right_side.swap), ("copy", right_side.copy)):
            st.button(text(lang, f"compare.{name}"), key=widgets.key(name), on_click=act)


def right(lang: Language, side: Side) -> None:
    """The choice of the right side's model, and of its text or picture."""
    _model(lang)
    if right_side.shows_capture():
        return
    card = model_cards.card(side.model)
    kind: ModelKind = "encoder" if card is None else card.kind
    if kind not in READS_NO_TEXT:
        _text(lang, side)
    if kind == "encoder-decoder" or (card is not None and card.transcribes):
        _target(lang, side, kind == "speech")
    if kind in READS_PICTURES:
        _picture(lang, side)


def _model(lang: Language) -> None:
    """The registered models, the visitor's own among them, and a box to name another."""
    named = current.view().right.model
    own = named not in (SAME, *REGISTRY)
    same = "opened.same" if current.view().input.capture else "compare.same_model"
    titles = {SAME: text(lang, same), OTHER: text(lang, "sidebar.other_model")}
    # the browser answers with a label: in another language it must be another widget
    widget = f"model_b.{lang}"
    st.selectbox(
        text(lang, "compare.model"),
        list(dict.fromkeys((SAME, *REGISTRY, named, OTHER))),
        key=widgets.showing(widget, OTHER if _is_naming() else named),
        format_func=lambda model: titles.get(model) or model_title(lang, model),
        on_change=_take_model,
        args=(widget,),
    )
    if own or _is_naming():
        label = text(lang, "compare.model_name")
        sidebar.name_box(lang, label, "model_name_b", named if own else "", _take_model_name)


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


def _take_target() -> None:
    target = address.cleaned("target_b", widgets.value("target_b"))
    _read(replace(current.view().right, target=target))


def _take_picture(widget: str) -> None:
    image = address.cleaned("image_b", widgets.value(widget))
    _read(replace(current.view().right, image=image))


def _read(right: RightSide) -> None:
    """Show another input on the right; no cell is chosen then."""
    current.update(replace(current.view(), right=right).without_cell)


def _text(lang: Language, side: Side) -> None:
    st.text_area(
        text(lang, "compare.text"),
        key=widgets.showing("text_b", side.text),
        height=TEXT_HEIGHT_PX,
        max_chars=address.MAX_CHARS["text"],
        help=text(lang, "compare.text_help"),
        on_change=_take_text,
    )
    text_box.chips("example_b", side.model, _open_text)


def _target(lang: Language, side: Side, hears: bool) -> None:
    """A box for the right decoder's target; if it is empty the model generates it."""
    label = text(lang, "compare.transcript" if hears else "compare.target")
    sidebar.target_box(lang, label, "target_b", side.target, _take_target, hears)


def _take_text() -> None:
    _open_text(address.cleaned("text_b", widgets.value("text_b")))


def _open_text(typed: str) -> None:
    _read(replace(current.view().right, text=typed, target=""))


def _picture(lang: Language, side: Side) -> None:
    samples = range(pictures.FIRST_SAMPLE, pictures.FIRST_SAMPLE + N_SAMPLES)
    names = [pictures.sample_name(seed) for seed in samples if pictures.is_sampled(side.model)]
    other = right_side.left().image
    widget = f"image_b.{lang}"
    st.selectbox(
        text(lang, "compare.picture"),
        list(dict.fromkeys((*names, *pictures.DRAWN, other, side.image))),
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
    seed = pictures.sample_seed(name)
    if seed is None:
        return text(lang, f"picture.{'drawing' if drawings.is_drawing(name) else name}")
    return text(lang, "compare.sample", number=seed)


def attention(left: PageContext, right: AppCapture) -> PageContext:
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
