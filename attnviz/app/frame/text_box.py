"""The text that the model reads, at the top of a page: a box, the examples as chips, a hint.

In: the language. Out: widgets that show the text of the view and change it; nothing for a model
that reads no text, or while a capture from a file is open. Where a text file is read, its name and
a way back to the box.
"""

from collections.abc import Callable

import streamlit as st

from attnviz.app.bar import text_file
from attnviz.app.session import address, current, model_cards, uploads, widgets
from attnviz.app.session.labels import reads_text, text_label
from attnviz.app.session.messages import plain
from attnviz.checks import examples
from attnviz.checks.openings import sight
from attnviz.i18n import Language, text

HEIGHT_PX = 68  # two lines, the least that Streamlit draws


def show(lang: Language) -> None:
    """The box with its examples, if the model reads a text."""
    view = current.view()
    if view.input.capture or not reads_text(model_cards.card(view.model)):
        return
    with st.container(key=widgets.key("text_box"), gap="xsmall"):
        if text_file.replaces_box(lang):
            return
        _box(lang)
        text_file.pasting_problem(lang)
        _examples(lang)


def _box(lang: Language) -> None:
    st.text_area(
        text_label(lang),
        key=widgets.showing("text", current.view().input.text),
        height=HEIGHT_PX,
        placeholder=text(lang, "menu.text_placeholder"),
        on_change=_take_text,
        label_visibility="collapsed",
    )


def _take_text() -> None:
    typed = widgets.value("text")
    if len(typed) > address.MAX_CHARS["text"]:  # a browser would drop what goes over `max_chars`
        text_file.take_pasted(typed)
    else:
        uploads.forget_problem()
        current.open_text(address.cleaned("text", typed))


def _examples(lang: Language) -> None:
    """The examples of the model as chips, and what to look at in the one that is shown."""
    view = current.view()
    chips("example", view.model, current.open_text)
    hint = examples.hint(lang, view.model, view.input.text)
    seen = sight(view.model, view.input.text)
    if hint is not None and seen is not None:
        hint = text(
            lang,
            "example_hint.sight",
            hint=hint,
            head=str(seen.head),
            row=seen.query_token,
            column=seen.key_token,
            weight=f"{seen.weight:.2f}",
            others=f"{seen.others:.2f}",
        )
    if hint is not None:
        st.caption(hint)


def chips(name: str, model: str, take: Callable[[str], None]) -> None:
    """A button for each example of a model, in one line; `take` gets the text of the chosen one.

    Buttons hold no value: one that shows the choice would take it again if a text is typed before
    the browser knows that the choice is void.
    """
    with st.container(key=widgets.key(f"chips.{name}"), horizontal=True, gap="xsmall"):
        for example in examples.of_model(model):
            st.button(
                plain(example.text),
                key=widgets.key(f"{name}.{example.name}"),
                on_click=take,
                args=(example.text,),
            )
