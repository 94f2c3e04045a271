"""Notices above a picture: what was cut, generated or never learned, and which limit was met.

In: what is shown, or a limit. Out: sentences on the page.
"""

from functools import reduce

import streamlit as st

from attnviz.app.session import address_bar, current, messages, widgets
from attnviz.checks import examples
from attnviz.i18n import Language, joined, text
from attnviz.pictures.group import groups
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import Group
from attnviz.types import Tokens

MAX_NAMED = 8  # letters or words that a notice names
MAX_TEMPLATE_CHARS = 400


def of_texts(lang: Language, captured: AppCapture, texts: tuple[str, ...]) -> None:
    """Everything to know about the capture of some texts."""
    _message(lang, captured, texts)
    if captured.model.notice is not None:
        hub_id = messages.plain(captured.model.card.hub_id)
        st.warning(text(lang, "notice.hub", source=hub_id))
    group = generated(lang, captured)
    n_tokens = int(groups.generated_queries(group).sum())
    if n_tokens < captured.n_asked:
        st.caption(text(lang, "notice.ended", count=n_tokens, asked=captured.n_asked))
    capture, limit = captured.capture, captured.model.max_tokens
    if any(_is_cut(capture.tokens_of(row), limit) for row in range(capture.n_batch)):
        st.info(text(lang, "cut.notice", limit=limit))


def of_sound(lang: Language, captured: AppCapture) -> None:
    """Everything to know about the capture of a sound."""
    tokens = groups.queries(generated(lang, captured))
    if _is_cut(tokens, len(tokens)):
        st.info(text(lang, "cut.notice", limit=len(tokens)))


def _message(lang: Language, captured: AppCapture, texts: tuple[str, ...]) -> None:
    """The model's input where the text is a chat message: with the template's tokens and roles."""
    if captured.request is None or not captured.request.chat:
        return
    tokens = captured.capture.tokens
    template = " ".join(tokens.labels[: len(tokens) - captured.capture.n_generated])
    if captured.media.picture is not None:  # the patches of a picture have no words
        template = tokens.text
    shortened = messages.plain(template, MAX_TEMPLATE_CHARS)
    st.caption(text(lang, "notice.chat", tokens=shortened))
    if current.view().input.cut and tokens.text and texts[0].strip() not in tokens.text:
        st.info(text(lang, "cut.notice", limit=captured.model.max_tokens))


def generated(lang: Language, captured: AppCapture) -> Group:
    """Name the tokens that the model generated, if any; the group of the stack that generates."""
    group = captured.groups[-1]  # that stack runs last
    is_new = groups.generated_queries(group)
    if is_new.any():
        labels = groups.queries(group).labels
        new = [label for label, is_generated in zip(labels, is_new, strict=True) if is_generated]
        tokens = messages.plain(" ".join(new))
        st.caption(text(lang, "notice.written", count=len(new), tokens=tokens))
    return group


def never_learned(lang: Language, model: str, typed: str) -> None:
    """Name what the model was never trained on: letters, words, a text without a date."""
    letters = examples.foreign_letters(model, typed)
    if letters:
        names = [text(lang, f"spoken.{code}") for code in examples.languages(model)]
        languages = reduce(lambda a, b: text(lang, "spoken.pair", first=a, second=b), names)
        first = letters if len(letters) <= MAX_NAMED else f"{letters[:MAX_NAMED]} …"
        letters = messages.plain(first)
        st.info(text(lang, "notice.language", languages=languages, letters=letters))
        return
    words = examples.unknown_words(model, typed)
    if examples.has_no_date(model, typed):
        st.info(text(lang, "notice.no_date"))
    elif words:
        named = joined(lang, words[:MAX_NAMED]) + (" …" if len(words) > MAX_NAMED else "")
        st.info(text(lang, "notice.unknown_words", words=messages.plain(named)))


def _is_cut(tokens: Tokens, limit: int) -> bool:
    """True if the text goes on after the last of so many tokens."""
    last = max(end for _, end in tokens.offsets)
    return len(tokens) >= limit and last < len(tokens.text.rstrip())


def too_long(lang: Language, page: str, **values: int) -> None:
    """Say which limit a text is over, with a button that opens one head of it."""
    st.info(text(lang, f"long.{page}", **values))
    _button_to_head(text(lang, "long.link"))


def own_code(shown: PageContext, layer: int) -> None:
    """Say that only the weights of a layer are known, with a button to where they are shown."""
    module = messages.plain(shown.group.call(layer).module)
    st.info(text(shown.lang, "own_code.body", module=module))
    _button_to_head(text(shown.lang, "own_code.link"))


def _button_to_head(label: str) -> None:
    if st.button(label, key=widgets.key("open_head")):
        current.go("head")


def adjusted(lang: Language) -> None:
    """Name the parameters of the address that were replaced."""
    names = address_bar.rejected()
    if names:
        st.warning(text(lang, "notice.adjusted", names=joined(lang, names)))
