"""What leads into a class, and onto paper: join one, teach this lesson, print it.

In: the view. Out: widgets below the lessons and below a card; a new room, or the code of one, in
the view.
"""

import streamlit as st

from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.lessons.classroom.room import Stage
from attnviz.lessons.classroom.rooms import normal
from attnviz.lessons.paper.sheet import LAST_SEED
from attnviz.ui.learn import place, pointing
from attnviz.ui.server import cache
from attnviz.ui.server.class_socket import rooms
from attnviz.ui.session import messages, state

OUTSIDE = {"room": "", "host": "", "seat": ""}
CODE_CHARS = 40
EXAMPLE = "K7QM-2XLP-9RTA"


def show() -> None:
    """Draw what fits: the join box and how to teach below the list, the tools below a card."""
    lang, slug = state.language(), state.current().lesson
    if slug not in cache.lesson_slugs():
        join(lang)
        teach, paper = text(lang, "class.teach_title"), text(lang, "worksheet.title")
        st.markdown(text(lang, "class.teach_list", teach=teach, worksheet=paper))
        return
    with st.container(horizontal=True, gap="small"):
        with st.popover(text(lang, "class.teach_title")):
            st.markdown(text(lang, "class.teach_body"))
            if st.button(
                text(lang, "class.teach"), key=state.widget_key("class.teach"), type="primary"
            ):
                _teach(lang, slug)
        with st.popover(text(lang, "worksheet.title")):
            _paper(lang, slug)


def _teach(lang: Language, slug: str) -> None:
    """Open a class at the card of this page."""
    at = place.of(cache.lesson(slug))
    try:
        opened = rooms().create(Stage(slug, at.recipe.name, state.current().values))
    except AttnVizError as error:
        messages.say(lang, error)
        return
    state.update(room=opened.code, host=opened.key, seat="", card=at.recipe.name)
    st.rerun()


def _paper(lang: Language, slug: str) -> None:
    st.markdown(text(lang, "worksheet.body"))
    seed = st.number_input(
        text(lang, "worksheet.number"),
        min_value=0,
        max_value=LAST_SEED,
        value=1,
        key=state.widget_key("worksheet.seed"),
        help=text(lang, "worksheet.number_help"),
    )
    st.download_button(
        text(lang, "worksheet.download"),
        data=lambda: _sheet(slug, lang, int(seed)),
        file_name=f"attnviz-{slug}-{int(seed)}-{lang}.html",
        mime="text/html",
        on_click="ignore",
        key=state.widget_key("worksheet.download"),
    )


def _sheet(slug: str, lang: Language, seed: int) -> str:
    """The worksheet, made when it is asked for; torch is there, the card above needed it."""
    from attnviz.course import paper

    return paper.sheet(slug, lang, seed, cache.lesson_capture)


def join(lang: Language) -> None:
    """A box for the code of a class."""
    with st.form(state.widget_key("class.join"), border=True):
        st.markdown(f"**{text(lang, 'class.join_title')}** {text(lang, 'class.join_body')}")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            typed = st.text_input(
                text(lang, "class.code"),
                key=state.widget_key("class.code"),
                max_chars=CODE_CHARS,
                placeholder=EXAMPLE,
                width=320,
            )
            asked = st.form_submit_button(text(lang, "class.join"))
    if asked and typed.strip():
        state.update(**{**OUTSIDE, "room": normal(typed)[:CODE_CHARS]})
        st.rerun()


def leave() -> None:
    """Be in no class."""
    state.update(**OUTSIDE)
    pointing.point(None)
