"""The input of what is shown, as a request to run again; a line where something needs the model.

In: what is shown. Out: the `Request` that effects and attributions run again, or None where
something is missing that the visitor has to give. Of a capture file that is shown without its
model: one sentence, and a button that runs an embedded model on the file's text.
"""

from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.app.server import answer_runs, captures, sources
from attnviz.app.server.answer_runs import Answering
from attnviz.app.session import address, current, messages, widgets
from attnviz.capture.request import Request
from attnviz.i18n import text
from attnviz.models.registry import REGISTRY
from attnviz.pictures.group import answers
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.titles import model_title

# some near to the first example, some far from it
OTHERS = (
    "The animal was too exhausted to cross the road.",
    "A dog is sleeping on the sofa.",
    "How do I bake bread at home?",
    "Bread tastes best fresh from the oven.",
    "The bank raised its interest rates.",
)


def of_shown(shown: PageContext) -> Request | None:
    """The request of the first text, picture or sound, without what was generated after it.

    An encoder-decoder without a target gets its own answer. None where a sound has no transcript,
    and for a capture that is shown without its model.
    """
    if shown.captured.request is None:
        return None
    request = shown.captured.request.first_row()
    kind = shown.captured.model.kind
    if request.target or kind not in ("encoder-decoder", "speech"):
        return request
    if kind == "speech":
        return None
    source = sources.source(shown.captured.name)
    return replace(request, target=(captures.answer(source, request.text[0], request.cut),))


def others(shown: PageContext) -> tuple[str, ...]:
    """The sentences that an encoder's vector is compared with."""
    return OTHERS[:3] if shown.captured.model.kind == "encoder" else ()


def of_whole(shown: PageContext) -> Request | None:
    """As `of_shown`; None, and a line that says so, for what cannot be run again or is too long."""
    request = of_shown(shown)
    if request is None or not shown.size.whole:
        st.info(text(shown.lang, "inside.not_here"))
        return None
    return request


def answering(shown: PageContext, typed: str) -> Answering:
    """The answer of the model that is shown to a text alone."""
    request = Request.of(typed, cut=current.view().input.cut)
    return answer_runs.answers(shown.captured, request, ())


def lead_in_words(shown: PageContext, answered: Answering) -> tuple[str, dict[str, str]]:
    """("lead", the two choices by name), ("target", {}), or ("", {}) for an answer without either.

    Where sentences tell of the number that `AnswerReader.lead` measures.
    """
    reader, name = answered.run.reader, shown.captured.name
    if reader.lead is None:
        return "", {}
    if reader.kind == "target":
        return "target", {}
    quote = partial(messages.quoted, shown.lang, name)
    first, second = answers.pair_names(shown.lang, answered.run.prepared, reader, quote)
    return "lead", {"first": first, "second": second}


def needs_model(shown: PageContext, place: str) -> bool:
    """True if the model is missing, after saying so; `place` tells the lines of a page apart."""
    captured, lang = shown.captured, shown.lang
    if captured.loaded is not None:
        return False
    title = messages.plain(model_title(lang, captured.name))
    st.info(text(lang, "opened.needs_model", model=title))
    words = address.cleaned("text", captured.capture.tokens.text)
    if captured.name in REGISTRY and words.strip():
        st.button(
            text(lang, "opened.run", model=title),
            key=widgets.key(f"opened.run.{place}"),
            on_click=current.open_model_on,
            args=(captured.name, words),
        )
    return True
