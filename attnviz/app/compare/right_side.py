"""The right side of Compare: its input as the view names or suggests it, and its capture.

In: the view. Out: both `Side`s with what the view leaves open filled in; the right one's capture;
and the two moves that change both sides at once. What is not named is as on the left; a text or
picture that is not named is one that differs a little from the left one.
"""

from dataclasses import dataclass, replace

import streamlit as st
from PIL.Image import Image

from attnviz.app.frame import capture_of_view
from attnviz.app.server import captures, opened_captures, sources
from attnviz.app.session import (
    address,
    current,
    examples,
    model_cards,
    pictures,
    sounds,
    text_files,
    uploads,
    view_request,
)
from attnviz.app.session.labels import READS_PICTURES
from attnviz.app.session.view import RightSide
from attnviz.capture.request import Request
from attnviz.i18n import Language, text
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.types import ModelCard

SAME = ""  # in place of a model's name: the left one


@dataclass(frozen=True)
class Side:
    """The input of one side; `target` is fed to a decoder as if it had generated it."""

    model: str
    text: str
    target: str
    image: str


def left() -> Side:
    """The input that all pages show."""
    view = current.view()
    capture = opened_captures.opened(view.input.capture) if view.input.capture else None
    if capture is not None:
        words = capture.capture.tokens.text
        return Side(capture.name, words, target="", image=uploads.picture_name())
    typed = text_files.input_text() or ""
    return Side(view.model, typed, view.input.target, uploads.picture_name())


def shows_capture() -> bool:
    """True if the right side is the capture file of the left one."""
    view = current.view()
    return bool(view.input.capture) and view.right.model == SAME


def right() -> Side:
    """The input that the view asks for on the right."""
    view, other = current.view(), left()
    if shows_capture():
        return other
    model = view.right.model or view.model
    typed = view.right.text if view.right.text.strip() else _suggested(model, other)
    card = model_cards.card(model)
    hears = card is not None and card.kind == "speech"  # both sides have one sound
    same_input = model == view.model and (hears or typed == other.text)
    return Side(
        model=model,
        text=typed,
        target=view.right.target or (other.target if same_input else ""),
        image=view.right.image or pictures.following(other.image),
    )


def _suggested(model: str, other: Side) -> str:
    """Another model reads the same text, the same model one that differs a little.

    Beside a capture file a model reads the file's own text.
    """
    if current.view().input.capture and other.text.strip():
        return other.text
    return other.text if model != other.model else examples.contrast(model, other.text)


def captured(lang: Language, side: Side) -> AppCapture | None:
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


def swap() -> None:
    """Exchange the two sides; what was suggested on the right becomes the left's own input."""
    view, a, b = current.view(), left(), right()
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
                place.without_cell,
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
            ),
        )
    )


def _picture_of(side: Side) -> str:
    """The picture of a side, if its model reads pictures."""
    card = model_cards.card(side.model)
    return side.image if card is not None and card.kind in READS_PICTURES else ""


def copy() -> None:
    """Give the right side the input of the left one, head included."""
    a = left()
    right = RightSide(text=address.cleaned("text_b", a.text), image=_picture_of(a))
    current.update(replace(current.view(), right=right))
