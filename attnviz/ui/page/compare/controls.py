"""The widgets of Compare's two sides: what stands on the left, and what is chosen on the right.

In: the language and both sides. Out: widgets that show the view and change it; as in the sidebar,
none holds a value of its own.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY
from attnviz.types import ModelKind
from attnviz.ui.page import attention_choice
from attnviz.ui.page.compare import right_side
from attnviz.ui.page.compare.right_side import SAME, Side
from attnviz.ui.session import examples, pictures, state
from attnviz.ui.session.labels import PICTURED, TEXTLESS
from attnviz.ui.session.messages import plain
from attnviz.ui.sidebar import sidebar
from attnviz.views.captured import Captured
from attnviz.views.groups import Group, chosen
from attnviz.views.titles import model_title

TEXT_HEIGHT_PX = 82
PREVIEW_PX = 96
N_SAMPLES = 6
NAMING = "naming_b"
OTHER = "…"  # in the list of models: one to be named in a box of its own


def left(lang: Language, captured: Captured) -> None:
    """The left side in words, and what is done to both sides."""
    side = right_side.left()
    st.markdown(text(lang, "compare.side", model=plain(model_title(lang, side.model))))
    st.caption(text(lang, "compare.left"))
    if captured.model.kind not in TEXTLESS:
        st.markdown(text(lang, "compare.quote", text=plain(side.text.strip())))
    with st.container(horizontal=True):
        for name, act in (("swap", right_side.swap), ("copy", right_side.copy)):
            st.button(text(lang, f"compare.{name}"), key=state.widget_key(name), on_click=act)


def right(lang: Language, side: Side) -> None:
    """What the right side shows: model, then text or picture."""
    _model(lang)
    card = state.card(side.model)
    kind: ModelKind = "encoder" if card is None else card.kind
    if kind not in TEXTLESS:
        _text(lang, side)
    if kind == "encoder-decoder" or (card is not None and card.transcribes):
        _target(lang, side, kind == "speech")
    if kind in PICTURED:
        _picture(lang, side)


def _model(lang: Language) -> None:
    """The models there are, one of the visitor's own among them, and a box to name another."""
    view = state.current()
    own = view.model_b not in (SAME, *REGISTRY)
    titles = {SAME: text(lang, "compare.same_model"), OTHER: text(lang, "sidebar.other_model")}
    # the browser answers with a label: in another language it must be another widget
    name = f"model_b.{lang}"
    st.selectbox(
        text(lang, "compare.model"),
        list(dict.fromkeys((SAME, *REGISTRY, view.model_b, OTHER))),
        key=state.show_in_widget(name, OTHER if _naming() else view.model_b),
        format_func=lambda each: titles.get(each) or model_title(lang, each),
        on_change=_take_model,
        args=(name,),
    )
    if own or _naming():
        asked = text(lang, "compare.model_name")
        shown = view.model_b if own else ""
        sidebar.name_box(lang, asked, "model_name_b", shown, _take_model_name)


def _sides() -> tuple[str, str]:
    return state.current().model, state.current().model_b


def _naming() -> bool:
    """Whether another model was asked for, and none has been named since."""
    return bool(state.kept(NAMING) == _sides())


def _take_model(widget: str) -> None:
    if state.widget_value(widget) == OTHER:
        state.keep(NAMING, _sides())
    else:
        _open(state.clean("model_b", state.widget_value(widget)))


def _take_model_name() -> None:
    name = state.clean("model_b", state.widget_value("model_name_b"))
    if name:
        _open(SAME if name == state.current().model else name)


def _open(name: str) -> None:
    """Another model on the right: what was chosen in the last one is void."""
    state.keep(NAMING, None)
    cleared = {**state.RIGHT_TEXTS, **state.RIGHT_PLACE, **state.NO_CELL}
    state.update(**{**cleared, "model_b": name})


def _take(field: str, widget: str) -> None:
    state.update(**{**state.NO_CELL, field: state.clean(field, state.widget_value(widget))})


def _text(lang: Language, side: Side) -> None:
    st.text_area(
        text(lang, "compare.text"),
        key=state.show_in_widget("text_b", side.text),
        height=TEXT_HEIGHT_PX,
        max_chars=state.MAX_CHARS["text"],
        help=text(lang, "compare.text_help"),
        on_change=_take_text,
    )
    known = {example.name: example.text for example in examples.of(side.model)}
    st.menu_button(
        text(lang, "sidebar.example"),
        list(known),
        key=state.widget_key("example_b"),
        format_func=lambda name: plain(known[name]),
        on_click=_take_example,
        args=(known,),
    )


def _target(lang: Language, side: Side, hears: bool) -> None:
    """What the right decoder is to have written; where nothing is, the model writes it."""
    label = text(lang, "compare.transcript" if hears else "compare.target")
    sidebar.target_box(lang, label, "target_b", side.target, _take_target, hears)


def _take_target() -> None:
    written = state.clean("target_b", state.widget_value("target_b"))
    state.update(**{**state.NO_CELL, "target_b": written})


def _take_text() -> None:
    _read(state.clean("text_b", state.widget_value("text_b")))


def _take_example(known: Mapping[str, str]) -> None:
    name = state.widget_value("example_b")
    if name in known:
        _read(known[name])


def _read(shown: str) -> None:
    state.update(**{**state.NO_CELL, "text_b": shown, "target_b": ""})


def _picture(lang: Language, side: Side) -> None:
    samples = range(pictures.FIRST_SAMPLE, pictures.FIRST_SAMPLE + N_SAMPLES)
    names = [pictures.sample_name(seed) for seed in samples if pictures.is_sampled(side.model)]
    name = f"image_b.{lang}"
    st.selectbox(
        text(lang, "compare.picture"),
        list(dict.fromkeys((*names, *pictures.DRAWN, right_side.left().image, side.image))),
        key=state.show_in_widget(name, side.image),
        format_func=lambda each: _picture_title(lang, each),
        on_change=_take,
        args=("image_b", name),
    )
    with st.container(horizontal=True):
        for mark, image in (("A", right_side.left().image), ("B", side.image)):
            shown = state.picture(image)
            if shown is not None:
                st.image(shown, width=PREVIEW_PX, caption=mark, alt=_picture_title(lang, image))


def _picture_title(lang: Language, name: str) -> str:
    seed = pictures.sample_seed(name)
    if seed is None:
        return text(lang, f"picture.{name}")
    return text(lang, "compare.sample", number=seed)


def attention(lang: Language, captured: Captured, other: Group) -> Group:
    """The right side's attention: the left one's where nothing is chosen."""
    view = state.current()
    group = chosen(captured.groups, view.stack_b or other.stack, view.kind_b or other.kind)
    if len(captured.groups) > 1:
        titles = {
            each.name: attention_choice.attention_title(lang, each) for each in captured.groups
        }
        name = f"attention_b.{lang}"
        st.segmented_control(
            text(lang, "compare.attention"),
            list(titles),
            key=state.show_in_widget(name, group.name),
            format_func=titles.__getitem__,
            on_change=_take_attention,
            args=(name, captured.groups),
        )
    return group


def _take_attention(widget: str, among: Sequence[Group]) -> None:
    asked = state.widget_value(widget)
    for group in among:
        if group.name == asked:
            place = {**state.RIGHT_PLACE, "stack_b": group.stack, "kind_b": group.kind}
            state.update(**place, query=None, key=None)
