"""How near the visitor's sentences are to each other and to a few others, as the model has it.

In: a capture of an encoder that gives hidden states only. Out: a table of cosines. A model trained
for sentences gives similarities; of any other it is the cosine of mean hidden states, and is called
that.
"""

import streamlit as st

from attnviz.components import similarity as component
from attnviz.components.similarity import SimilarityView
from attnviz.i18n import Language, text
from attnviz.ui.host.components import show_similarity
from attnviz.ui.server import cache
from attnviz.ui.session import messages, state
from attnviz.ui.sidebar import sidebar
from attnviz.views.captured import Captured
from attnviz.views.texts import strings

FOR_SENTENCES = {"minilm"}  # models that were trained so that this number means something
# near to and far from the first example; the model reads them as it reads the visitor's
OTHERS = (
    "The animal was too exhausted to cross the road.",
    "A dog is sleeping on the sofa.",
    "How do I bake bread at home?",
    "Bread tastes best fresh from the oven.",
    "The bank raised its interest rates.",
)


def fits(captured: Captured) -> bool:
    """Whether the model gives hidden states of a text and nothing else."""
    capture = captured.capture
    return (
        captured.model.kind == "encoder"
        and capture.hidden is not None
        and capture.logits is None
        and captured.picture is None
    )


def show(lang: Language, captured: Captured) -> None:
    """The box for the second sentence and the table."""
    trained = captured.name in FOR_SENTENCES
    st.subheader(text(lang, "similarity.title" if trained else "similarity.title_hidden"))
    st.markdown(text(lang, "similarity.intro" if trained else "similarity.intro_hidden"))
    sidebar.second_text(lang)
    view = state.current()
    own = tuple(each for each in (view.text, view.text2) if each.strip())
    others = tuple(each for each in OTHERS if each not in own)
    show_similarity(_data(lang, captured, own, others))


def _data(
    lang: Language, captured: Captured, own: tuple[str, ...], others: tuple[str, ...]
) -> bytes:
    def build() -> bytes:
        view = SimilarityView(
            caption=text(lang, "similarity.caption"),
            sentences=tuple(map(messages.shortened, (*own, *others))),
            n_own=len(own),
            cosine=cache.similarity(captured, (*own, *others)).cosine,
        )
        return component.pack_similarity(view, strings(lang, component.STRING_KEYS))

    return cache.buffer(f"{captured.key} similarity {lang} {own}", build)
