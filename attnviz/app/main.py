"""The entry of the app: address, language, bar, and the page of the address.

Runs once per visit and again after every change, when its turn has come. The order matters: the
address is read before anything is shown, written back before the page's body, so that a component
finds its selection in it, and the bar is drawn before the model is loaded, so that the first paint
comes early. In a frame (`?embed=true`) and on a class's wall there is no bar. The top of a page
with a model is drawn here: a widget of a page's own file is another one on each page, and a text
that was just typed would be lost. Page files are beside the package in a checkout (pages/) and
inside it in an installed wheel.
"""

import json
from base64 import b64encode
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attnviz.app.bar import navigation
from attnviz.app.frame import frame, notices, strip, take
from attnviz.app.page_parts import classroom
from attnviz.app.page_parts.learn import links
from attnviz.app.server import loading, opened_captures, page_queue, turns, visitors
from attnviz.app.session import (
    address,
    address_bar,
    current,
    messages,
    openings,
    routes,
    store,
    widgets,
)
from attnviz.checks.examples import languages
from attnviz.i18n import DEFAULT, Language, catalogue, tag, text
from attnviz.models.registry import DEFAULT_MODEL
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.pages import Page
from attnviz.pictures.shared.pages import path as path_of

# the words of Streamlit that no option changes, those that a script of the page says (host/bar.js),
# and our texts for them
STREAMLIT_SAYS = {
    "Choose an option": "streamlit.choose",
    "Copy to clipboard": "streamlit.copy",
    "Help": "streamlit.help",
    "Help for": "streamlit.help_for",
    "Link to heading": "streamlit.heading_link",
    "Menus": "bar.menus",
    "MB per file": "streamlit.size",
    "Open": "streamlit.open",
    "Rooms": "bar.rooms",
    "Skip to main content": "streamlit.skip",
    "Upload": "streamlit.upload",
    "file upload": "streamlit.file",
}
PAGES = "pages"  # of Streamlit, in this session
MARK = Path(__file__).with_name("mark.svg")


def style(lang: Language) -> str:
    """Language of page and tokens, and the mark beside the name, as properties for style sheets.

    A script of the page copies the languages to the document (`host/language.js`): the rules for a
    language read it there. The sheets themselves come with the page (`host/first_paint.py`).
    """
    mark = b64encode(MARK.read_bytes()).decode("ascii")
    return (
        f"<style>:root {{ --attnviz-language: {tag(lang)}; --attnviz-words: {_words(lang)};"
        f" --attnviz-tokens: {_language_of_tokens()};"
        f' --attnviz-mark: url("data:image/svg+xml;base64,{mark}"); }}</style>'
    )


def _language_of_tokens() -> str:
    """ "en" if no model of the page reads or writes anything but English, else "any"."""
    view = current.view()
    names = {view.model, view.right.model or view.model}
    is_english = not view.input.capture and all(languages(name) == (DEFAULT,) for name in names)
    return DEFAULT if is_english else "any"


def _words(lang: Language) -> str:
    """The words of Streamlit itself in the language: JSON in a string of CSS."""
    said = {english: catalogue(lang)[key] for english, key in STREAMLIT_SAYS.items()}
    table = json.dumps({} if lang == DEFAULT else said, ensure_ascii=False)
    return json.dumps(table, ensure_ascii=False)


def _said_meanwhile(lang: Language) -> AbstractContextManager[None]:
    """A line below the bar for the first visitor of a new server: the libraries take seconds."""
    title = messages.plain(model_title(lang, current.view().model or DEFAULT_MODEL))
    return st.spinner(text(lang, "wait.model", model=title))


turns.page_run = turns.PageRun(messages.waiting, store.let_end)


def _pages(lang: Language) -> dict[Page, StreamlitPage]:
    """The pages of this session, which looks for their files once for each language."""
    kept: dict[Page, StreamlitPage] | None = store.get(f"{PAGES}.{lang}")
    if kept is None:
        kept = {
            name: st.Page(
                path,
                title=text(lang, f"page.{name}.title"),
                url_path=path_of(name),
                default=name == routes.DEFAULT,
            )
            for name, path in routes.files().items()
        }
        store.put(f"{PAGES}.{lang}", kept)
    return kept


def main() -> None:
    """Draw one run of the app."""
    address_bar.adopt()
    store.put(widgets.RERUN, ())
    lang = current.language()
    pages = _pages(lang)
    page = st.navigation(list(pages.values()), position="hidden")
    name = next(name for name, listed in pages.items() if listed == page)
    if name == routes.DEFAULT and address_bar.leads_on():
        st.switch_page(pages[routes.BEFORE], query_params=address_bar.as_it_stands())
    openings.arrive(name)
    door = current.door(name)
    st.set_page_config(
        page_title=f"{text(lang, f'page.{door}.title')} · {text(lang, 'app.name')}",
        page_icon=MARK,
        layout="wide",
        initial_sidebar_state="collapsed",
    )
    st.html(style(lang))
    target = classroom.page_to_follow(name)
    if target is not None:
        st.switch_page(pages[target], query_params=address.params(current.view()))
    needs_model = door not in routes.WITHOUT_MODEL
    if needs_model:
        openings.open_where_nothing_is_chosen()
    if name != routes.DEFAULT or not address_bar.names_a_view():
        address_bar.write(with_view=name != routes.DEFAULT)
    if not (address_bar.is_embedded() or current.view().classroom.wall):
        navigation.show(lang, pages, name)
    if name != routes.DEFAULT:
        with nullcontext() if loading.are_imported() else _said_meanwhile(lang):
            loading.import_libraries()
    if needs_model:
        frame.open_page(door)
        strip.open_line(lang, links.back_to_lesson, name)
    elif name != "learn" and not address_bar.is_embedded():
        links.back_to_lesson(lang)
    notices.adjusted(lang)
    classroom.beside(lang, name)
    with messages.guard(lang):
        with opened_captures.first_look(current.view().input.capture, name):
            page.run()
    strip.close_line(lang)
    take.offer_picture(lang)
    if not needs_model:
        frame.line_without_model(lang)


with page_queue.queue.turn(visitors.address()):
    main()
