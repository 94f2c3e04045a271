"""The menu of a vision model: generated pictures, drawn ones, an upload, a drawing pad.

In: the language. Out: widgets that show the model's picture, and change it. What a visitor uploads
or draws is checked before it is kept; a refusal is shown beside the widget.
"""

import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.session import current, messages, model_images, uploads, widgets
from attnviz.i18n import Language, text
from attnviz.pictures import drawing_pad
from attnviz.pictures.drawing_pad import pad
from attnviz.types import MIB

SAMPLE, DRAWING = "sample", "drawing"  # in the list: one of the generated ones, the drawn one
PREVIEW_PX = 192
TALLEST = 4  # times as high as wide


def choice(lang: Language) -> None:
    """The chosen picture, and the ways to another one."""
    chosen = uploads.picture_name()
    seed = model_images.sample_seed(chosen)
    _selectbox(
        lang, SAMPLE if seed is not None else DRAWING if model_images.is_drawing(chosen) else chosen
    )
    if seed is not None:
        _samples(lang, seed)
    _preview(lang)
    with st.expander(text(lang, "menu.draw"), key=widgets.key("draw")):
        draw(drawing_pad.CANVAS, pad(), "pad", lang, {"picture": _take_drawing}, remounts=False)
        problem = uploads.problem("pad")
        if problem is not None:
            messages.show(lang, problem)
    _upload(lang)


def _selectbox(lang: Language, chosen: str) -> None:
    samples = model_images.is_sampled(current.view().model) or chosen == SAMPLE
    own = [chosen] if chosen in (model_images.OWN, DRAWING) else []
    widget = f"image.{lang}"
    st.selectbox(
        text(lang, "menu.picture"),
        [*([SAMPLE] if samples else []), *model_images.DRAWN, *own],
        key=widgets.showing(widget, chosen),
        format_func=lambda name: text(lang, f"picture.{name}"),
        on_change=_take_picture,
        args=(widget,),
    )


def _take_picture(widget: str) -> None:
    name = widgets.value(widget)
    if name == DRAWING:  # chosen again: it is the picture that is shown
        return
    current.open_image(
        model_images.sample_name(model_images.FIRST_SAMPLE) if name == SAMPLE else name
    )


def _samples(lang: Language, seed: int) -> None:
    """The number of the generated picture, and buttons to the ones before and after it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for direction, step in (("previous", -1), ("next", 1)):
            st.button(
                text(lang, f"sample.{direction}"),
                key=widgets.key(f"sample.{direction}"),
                help=text(lang, f"sample.{direction}_help"),
                on_click=current.open_image,
                args=(model_images.sample_name(seed + step),),
            )
    st.caption(text(lang, "sample.what", number=seed))


def _preview(lang: Language) -> None:
    image = uploads.picture()
    if image is not None:
        height = PREVIEW_PX * image.height // image.width
        large = image.resize((PREVIEW_PX, min(max(height, 1), TALLEST * PREVIEW_PX)))
        st.image(large, width=PREVIEW_PX, alt=text(lang, "menu.preview"))


def _upload(lang: Language) -> None:
    file = st.file_uploader(
        text(lang, "menu.upload"),
        type=["png", "jpg", "jpeg"],
        max_upload_size=model_images.MAX_BYTES // MIB,
        key=widgets.key("upload"),
        help=text(lang, "menu.upload_help"),
        on_change=_take_upload,
    )
    problem = uploads.problem("upload")
    if file is not None and problem is not None:
        messages.show(lang, problem)


def _take_upload() -> None:
    file = widgets.value("upload")
    if file is None:
        return
    with uploads.taking("upload"):
        uploads.keep_picture(model_images.uploaded(file.getvalue()))


def _take_drawing(sent: object) -> None:
    with uploads.taking("pad"):
        current.open_image(model_images.drawing_name(model_images.from_pad(sent)))
