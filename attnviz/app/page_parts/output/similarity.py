"""The similarity of the visitor's sentences to each other and to a few others.

In: a capture of an encoder that returns hidden states only. Out: a table of cosines. For a model
trained on sentences they are similarities; for any other they are called what they are, cosines of
mean hidden states. With heads switched off, that is the first sentence's run alone: the others
stay what it is compared with.
"""

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.app.frame.choices import renew_links
from attnviz.app.frame.run_again import OTHERS
from attnviz.app.host.draw import draw
from attnviz.app.server.shared import shared
from attnviz.app.session import address, current, messages, widgets
from attnviz.i18n import Language, text
from attnviz.pictures import similarity as component
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.similarity import SimilarityView

if TYPE_CHECKING:
    from attnviz.experiment.outputs.similarity import Similarity
    from attnviz.models.loaded_model import LoadedModel

MAX_COSINES = 256  # small matrices
FOR_SENTENCES = {"minilm"}  # models trained so that the cosine is a similarity


def fits(captured: AppCapture) -> bool:
    """True if the model returns hidden states of a text and nothing else."""
    capture = captured.capture
    return (
        captured.model.kind == "encoder"
        and capture.hidden is not None
        and capture.logits is None
        and captured.media.picture is None
    )


def show(shown: PageContext) -> None:
    """The table, the box for the second sentence, and what the numbers mean."""
    lang, trained = shown.lang, shown.captured.name in FOR_SENTENCES
    typed = current.view().input
    own = tuple(sentence for sentence in (typed.text, typed.text2) if sentence.strip())
    others = tuple(sentence for sentence in OTHERS if sentence not in own)
    view = SimilarityView(
        caption=text(lang, "similarity.caption"),
        sentences=tuple(map(messages.shortened, (*own, *others))),
        n_own=len(own),
        cosine=_cosines(shown.captured, (*own, *others)).cosine,
    )
    draw(component.CANVAS, view, "similarity", lang)
    _second_text(lang)
    st.subheader(text(lang, "similarity.title" if trained else "similarity.title_hidden"))
    st.markdown(text(lang, "similarity.intro" if trained else "similarity.intro_hidden"))
    if _is_changed(shown.captured):
        st.markdown(text(lang, "similarity.changed"))


def _second_text(lang: Language) -> None:
    """The box for a second sentence of the visitor's own."""
    if current.view().input.capture:
        return
    st.text_input(
        text(lang, "menu.text2"),
        key=widgets.showing("text2", current.view().input.text2),
        max_chars=address.MAX_CHARS["text2"],
        placeholder=text(lang, "menu.text2_placeholder"),
        on_change=_take_second_text,
    )


def _take_second_text() -> None:
    current.open_second(address.cleaned("text2", widgets.value("text2")))
    renew_links(*widgets.rerun_with_page())  # the answer beside the switches names it, too


def _cosines(captured: AppCapture, texts: tuple[str, ...]) -> "Similarity":
    import torch

    from attnviz.experiment.outputs.similarity import compared, pooled

    found, hidden = _with_all_heads(captured.model, texts), captured.capture.hidden
    if hidden is None or not _is_changed(captured):
        return found
    own = hidden[:1, : len(captured.capture.tokens.labels)].float()
    vectors = found.vectors.copy()
    vectors[0] = pooled(own, torch.ones_like(own[..., 0]).bool()).cpu().numpy()
    return compared(texts, vectors)


@shared(most=MAX_COSINES)
def _with_all_heads(loaded: "LoadedModel", texts: tuple[str, ...]) -> "Similarity":
    from attnviz.experiment.outputs.similarity import similarity

    return similarity(loaded, texts, cut=True)


def _is_changed(captured: AppCapture) -> bool:
    """True if something was changed while the model ran."""
    return any(call.changes for call in captured.capture.calls)
