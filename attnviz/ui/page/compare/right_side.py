"""The right side of Compare: what stands there, and what its model makes of it.

In: the view. Out: both `Side`s as the view asks for them, with what it leaves open filled in; the
right one's capture; and the two moves that change both sides at once. What is not named is as on
the left. A text or picture that is not named is one that differs from the left one a little.
"""

from dataclasses import dataclass, replace

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.types import ModelCard
from attnviz.ui.page import capture_of_view
from attnviz.ui.server import cache, sources
from attnviz.ui.server.request import Request
from attnviz.ui.session import examples, pictures, sounds, state, text_files, view_request
from attnviz.ui.session.labels import PICTURED
from attnviz.views.captured import Captured

SAME = ""  # in place of a model's name: the left one


@dataclass(frozen=True)
class Side:
    """What a model reads on one side; `target` is what a decoder is given as written."""

    model: str
    text: str
    target: str
    image: str


def left() -> Side:
    """What the session looks at on every page."""
    view = state.current()
    return Side(view.model, text_files.reading() or "", view.target, state.picture_name())


def right() -> Side:
    """What the view asks for on the right."""
    view, other = state.current(), left()
    model = view.model_b or view.model
    shown = view.text_b if view.text_b.strip() else _suggested(model, other)
    card = state.card(model)
    hears = card is not None and card.kind == "speech"  # both sides hear one sound
    same_input = model == view.model and (hears or shown == other.text)
    return Side(
        model=model,
        text=shown,
        target=view.target_b or (other.target if same_input else ""),
        image=view.image_b or pictures.following(other.image),
    )


def _suggested(model: str, other: Side) -> str:
    """Another model reads the same text, the same model one that differs a little."""
    return other.text if model != other.model else examples.contrast(model, other.text)


def captured(lang: Language, side: Side) -> Captured | None:
    """The right side's capture; None after saying that a picture has to be chosen again."""
    source = sources.source(side.model)
    loaded = capture_of_view.load(lang, source, side.model)
    if loaded.kind == "module":
        return cache.captured(source, Request())
    if loaded.kind == "speech":
        heard = sounds.named(state.current().sound)
        if heard is None:
            st.info(text(lang, "empty.sound_body"))
            return None
        return cache.captured(source, sounds.request(loaded.card, heard, side.target), heard)
    if loaded.kind in PICTURED:
        image = state.picture(side.image)
        if image is None:
            st.info(text(lang, "empty.picture_body"))
            return None
        with st.spinner(text(lang, "wait.picture")):
            asked = _request(source, side, loaded.card)
            request = replace(asked, picture=pictures.digest(image))
            return cache.captured(source, request, image)
    with st.spinner(text(lang, "wait.capture", characters=len(side.text))):
        return cache.captured(source, _request(source, side, loaded.card))


def _request(source: sources.Source, side: Side, card: ModelCard) -> Request:
    """What the right model reads and writes: as on the left, an answer of its own where needed."""
    view, target = state.current(), ""
    if card.kind == "encoder-decoder" and (side.target or not view.generate):
        target = side.target or cache.answer(source, side.text, view.cut)
    return view_request.of_texts(() if card.kind == "vision" else (side.text,), card, target)


def swap() -> None:
    """Put each side where the other one is; what was suggested is spelled out."""
    view, a, b = state.current(), left(), right()
    linked = view.layer_b is None or view.head_b is None
    state.update(
        model=b.model,
        text=state.clean("text", b.text),
        target=b.target,
        image=_named(b),
        stack=view.stack_b,
        kind=view.kind_b,
        layer=view.layer if linked else view.layer_b,
        head=view.head if linked else view.head_b,
        model_b=SAME if a.model == b.model else a.model,
        text_b=state.clean("text_b", a.text),
        target_b=a.target,
        image_b=_named(a),
        stack_b=view.stack,
        kind_b=view.kind,
        layer_b=None if linked else view.layer,
        head_b=None if linked else view.head,
        file=False,
        **state.NO_CELL,
    )


def _named(side: Side) -> str:
    """The picture of a side, where its model reads pictures."""
    card = state.card(side.model)
    return side.image if card is not None and card.kind in PICTURED else ""


def copy() -> None:
    """Put on the right what stands on the left, head included."""
    a = left()
    as_left = {"text_b": state.clean("text_b", a.text), "image_b": _named(a)}
    state.update(**{**state.RIGHT_TEXTS, **state.RIGHT_PLACE, **as_left})
