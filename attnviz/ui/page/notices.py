"""Sentences above a picture: what was cut, written or never learned, and which limit was met.

In: a language and a capture, or a limit. Out: notices on the page.
"""

from functools import reduce

import streamlit as st

from attnviz.i18n import Language, text
from attnviz.ui.session import examples, messages, routes, state, view_request
from attnviz.views.captured import Captured
from attnviz.views.groups import Group

MOST_NAMED = 8  # letters or words that a notice names
MOST_TEMPLATE_CHARS = 400


def of_capture(lang: Language, found: Captured) -> None:
    model = found.model
    if model.notice is not None:
        st.warning(text(lang, "notice.hub", source=messages.plain(model.card.hub_id)))
    group = of_written(lang, found)
    written, asked = int(group.written().sum()), found.asked
    if written < asked:
        st.caption(text(lang, "notice.ended", count=written, asked=asked))
    tokens = [found.capture.tokens_of(batch) for batch in range(found.capture.n_batch)]
    if any(was_cut(of.text, of.offsets, model.max_tokens) for of in tokens):
        st.info(text(lang, "cut.notice", limit=model.max_tokens))


def of_message(lang: Language, found: Captured, texts: tuple[str, ...]) -> None:
    """What the model reads of a message: all that its template wrote, roles included."""
    if not view_request.is_message(found.model.card):
        return
    tokens = found.capture.tokens
    read = " ".join(tokens.labels[: len(tokens) - found.capture.n_generated])
    if found.picture is not None:  # the pieces of a picture have no words
        read = tokens.text
    st.caption(text(lang, "notice.chat", tokens=messages.plain(read, MOST_TEMPLATE_CHARS)))
    if state.current().cut and tokens.text and texts[0].strip() not in tokens.text:
        st.info(text(lang, "cut.notice", limit=found.model.max_tokens))


def of_written(lang: Language, found: Captured) -> Group:
    """Say which tokens the model wrote, if any; the attentions of what writes."""
    group = found.groups[-1]  # the stack that writes runs last
    if group.written().any():
        labels = [
            of for of, new in zip(group.queries().labels, group.written(), strict=True) if new
        ]
        st.caption(
            text(lang, "notice.written", count=len(labels), tokens=messages.plain(" ".join(labels)))
        )
    return group


def never_learned(lang: Language, name: str, shown: str) -> None:
    """Say what of a text the model has no way to understand."""
    letters = examples.foreign_letters(name, shown)
    if letters:
        spoken = [text(lang, f"spoken.{code}") for code in examples.languages(name)]
        said = letters if len(letters) <= MOST_NAMED else f"{letters[:MOST_NAMED]} …"
        learned = reduce(lambda a, b: text(lang, "spoken.pair", first=a, second=b), spoken)
        st.info(text(lang, "notice.language", languages=learned, letters=messages.plain(said)))
        return
    words = examples.unknown_words(name, shown)
    if examples.has_no_date(name, shown):
        st.info(text(lang, "notice.no_date"))
    elif words:
        said = ", ".join(words[:MOST_NAMED]) + (" …" if len(words) > MOST_NAMED else "")
        st.info(text(lang, "notice.unknown_words", words=messages.plain(said)))


def was_cut(source: str, offsets: tuple[tuple[int, int], ...], limit: int) -> bool:
    reached = max(end for _, end in offsets)
    return len(offsets) >= limit and reached < len(source.rstrip())


def too_long(lang: Language, page: str, **values: str) -> None:
    """Say which limit a text is over, and where one head of it is shown all the same."""
    st.info(text(lang, f"long.{page}", **values))
    st.page_link(
        routes.file("head"),
        label=text(lang, "long.link"),
        query_params=state.params(state.current()),
    )


def own_code(lang: Language, module: str) -> None:
    """Say that only weights are known, and where they are shown."""
    st.info(text(lang, "own_code.body", module=messages.plain(module)))
    st.page_link(
        routes.file("head"),
        label=text(lang, "own_code.link"),
        query_params=state.params(state.current()),
    )


def adjusted(lang: Language) -> None:
    """Say which parts of the address made no sense and were replaced."""
    names = state.rejected()
    if names:
        st.warning(text(lang, "notice.adjusted", names=", ".join(names)))
