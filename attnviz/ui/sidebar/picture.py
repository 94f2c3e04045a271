"""The sidebar of a vision model: generated pictures, drawn ones, an upload, a pad to draw on.

In: the language. Out: widgets that show which picture the model reads, and change it. What a
visitor uploads or draws is checked before it is kept; a refusal is said beside the widget.
"""

import numpy as np
import streamlit as st

from attnviz.components import pad
from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.ui.host.components import show_pad
from attnviz.ui.session import pictures, state
from attnviz.ui.session.messages import say
from attnviz.views.texts import strings
from attnviz.worlds.forms import OUTLINES, PALETTE

SAMPLE = "sample"  # in the list of pictures: one of the generated ones
PREVIEW_PX = 192
INK = (28, 30, 34)
STAMP = 1  # of the ways in which a form can look, the one that is stamped


def picture(lang: Language) -> None:
    """Which picture the model reads, and the ways to another one."""
    chosen = state.picture_name()
    seed = pictures.sample_seed(chosen)
    _choice(lang, chosen if seed is None else SAMPLE)
    if seed is not None:
        _samples(lang, seed)
    _preview(lang)
    with st.expander(text(lang, "sidebar.draw"), key=state.widget_key("draw")):
        _pad(lang)
    _upload(lang)


def _choice(lang: Language, chosen: str) -> None:
    samples = pictures.is_sampled(state.current().model) or chosen == SAMPLE
    own = [pictures.OWN] if chosen == pictures.OWN else []
    name = f"image.{lang}"
    st.selectbox(
        text(lang, "sidebar.picture"),
        [*([SAMPLE] if samples else []), *pictures.DRAWN, *own],
        key=state.show_in_widget(name, chosen),
        format_func=lambda each: text(lang, f"picture.{each}"),
        on_change=_take_picture,
        args=(name,),
    )


def _take_picture(widget: str) -> None:
    name = state.widget_value(widget)
    look_at(pictures.sample_name(pictures.FIRST_SAMPLE) if name == SAMPLE else name)


def look_at(name: str) -> None:
    """Show the model another picture; what was chosen in the last one means nothing in it."""
    state.update(image=name, query=None, key=None)


def _samples(lang: Language, seed: int) -> None:
    """The generated pictures have numbers; the neighbours of this one are a click away."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for way, step in (("previous", -1), ("next", 1)):
            st.button(
                text(lang, f"sample.{way}"),
                key=state.widget_key(f"sample.{way}"),
                help=text(lang, f"sample.{way}_help"),
                on_click=look_at,
                args=(pictures.sample_name(seed + step),),
            )
    st.caption(text(lang, "sample.what", number=seed))


def _preview(lang: Language) -> None:
    shown = state.picture()
    if shown is not None:
        large = shown.resize((PREVIEW_PX, PREVIEW_PX * shown.height // shown.width))
        st.image(large, width=PREVIEW_PX, alt=text(lang, "sidebar.preview"))


def _upload(lang: Language) -> None:
    file = st.file_uploader(
        text(lang, "sidebar.upload"),
        type=["png", "jpg", "jpeg"],
        max_upload_size=pictures.MOST_BYTES // pictures.MIB,
        key=state.widget_key("upload"),
        help=text(lang, "sidebar.upload_help"),
        on_change=_take_upload,
    )
    problem = state.upload_problem("upload")
    if file is not None and problem is not None:
        say(lang, problem)


def _take_upload() -> None:
    file = state.widget_value("upload")
    if file is None:
        return
    try:
        state.keep_picture(pictures.uploaded(file.getvalue()))
    except AttnVizError as error:
        state.keep_problem(error, "upload")


def _pad(lang: Language) -> None:
    view = pad.PadView(
        side_px=pictures.PAD_SIDE_PX,
        colours={**PALETTE, "black": INK},
        forms={name: form(np.random.default_rng(STAMP)) for name, form in OUTLINES.items()},
    )
    key = state.widget_key("pad")
    data = pad.pack_pad(view, strings(lang, pad.STRING_KEYS))
    show_pad(data, key, _take_drawing)
    problem = state.upload_problem("pad")
    if problem is not None:
        say(lang, problem)


def _take_drawing() -> None:
    try:
        sent = state.component_value(state.widget_key("pad"), "picture")
        state.keep_picture(pictures.from_pad(sent))
    except AttnVizError as error:
        state.keep_problem(error, "pad")
