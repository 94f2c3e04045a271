"""The palette of a page: its entries in the visitor's language, and what each of them opens.

In: the language. Out: a canvas that shows nothing until ⌘K or Ctrl+K is pressed, or the entry of
the menu ⋯; what is taken there changes the view, and leads to the page where it is seen.
"""

from functools import cache
from importlib.resources import files

import streamlit as st

from attnviz import i18n
from attnviz.app.host.draw import draw
from attnviz.app.server import sources
from attnviz.app.session import address_bar, current, model_cards, routes
from attnviz.checks import card
from attnviz.errors import BadInput
from attnviz.i18n import LANGUAGES, Language, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures import palette
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.palette import PaletteEntry, PaletteView
from attnviz.pictures.shared.pages import DOORS, Door
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.types import HeadId

SCHEMES = ("light", "dark", "system")


def show(lang: Language) -> None:
    """The palette of this page."""
    model = current.view().model
    known = model_cards.card(model)
    layers, heads = (known.layers, known.heads or 0) if known is not None else (0, 0)
    draw(
        palette.CANVAS,
        lambda: PaletteView((*_common(lang), *_notes(lang, model)), layers, heads),
        "palette",
        lang,
        {"pick": _take},
        kept=f"{model} {layers} {heads}",
        remounts=False,
    )


def door(lang: Language) -> None:
    """The button that opens it, for those who press no keys."""
    draw(palette.CANVAS, PaletteView(door=True), "palette.door", lang, remounts=False)


@cache
def _common(lang: Language) -> tuple[PaletteEntry, ...]:
    """The entries that every page has: pages, lessons, models, what the app itself can do."""
    pages = [_page(lang, door) for door in DOORS if door != "head"]
    lessons = [
        PaletteEntry(
            "lesson", slug, texts.title, texts.summary, lesson_texts(slug, i18n.DEFAULT).title
        )
        for slug in _slugs()
        for texts in (lesson_texts(slug, lang),)
    ]
    models = [
        PaletteEntry("model", name, model_title(lang, name), text(lang, "palette.model"), name)
        for name in (*REGISTRY, *sources.offered())
    ]
    schemes = [
        PaletteEntry(
            "scheme",
            scheme,
            text(lang, f"component.theme_switch.{scheme}"),
            text(lang, "component.theme_switch.label"),
            f"{scheme} theme {text(i18n.DEFAULT, f'component.theme_switch.{scheme}')}",
        )
        for scheme in SCHEMES
    ]
    languages = [
        PaletteEntry(
            "language", code, text(code, "language.name"), text(lang, "language.label"), code
        )
        for code in LANGUAGES
    ]
    save = PaletteEntry("save", "svg", text(lang, "palette.save"), "", "save picture svg")
    return (*pages, save, *lessons, *models, *schemes, *languages)


def _page(lang: Language, page: Door) -> PaletteEntry:
    """A page under its name; it is found by what it is for, and by its English name."""
    title, room = text(lang, f"page.{page}.title"), routes.room(page)
    if page not in routes.ROOMS[room][:1] or len(routes.ROOMS[room]) > 1:
        title = f"{text(lang, f'room.{room}')} › {title}"
    keys = (f"page.{page}.title", f"palette.of_{page}")
    words = (page, *(text(each, key) for key in keys for each in (lang, i18n.DEFAULT)))
    about = text(lang, f"page.{page}.intro")
    return PaletteEntry("page", page, title, about, " ".join(words))


def _slugs() -> list[str]:
    """The lessons there are, without the library that computes them."""
    content = files("attnviz.teach.lessons").joinpath("content")
    return sorted(one.name for one in content.iterdir() if one.joinpath("en.md").is_file())


def _notes(lang: Language, model: str) -> tuple[PaletteEntry, ...]:
    """The heads that the model's card names, with what they do; its notes are in English."""
    model_card = card(model)
    notes = () if model_card is None else model_card.description.heads
    return tuple(
        PaletteEntry(
            "head", note.head, text(lang, "component.palette.head", head=note.head), note.does
        )
        for note in notes
    )


def _take(sent: object) -> None:
    """Open what was taken; nothing for what does not exist."""
    pick = palette.parse_pick(sent)
    if pick is None:
        return
    value = pick.value
    if pick.kind == "page" and value in DOORS:
        _go_to(value)
    elif pick.kind == "head" and (head := _head_named(value)) is not None:
        current.open_head(head.layer, head.head)
        current.go("head")
    elif pick.kind == "lesson" and value in _slugs():
        current.take({"lesson": value, "card": ""})
        _go_to("learn")
    elif pick.kind == "model" and value in (*REGISTRY, *sources.offered()):
        current.open_model(value)
        _go_to("overview")
    elif pick.kind == "language" and value in LANGUAGES:
        current.take({"lang": value})


def _head_named(name: str) -> HeadId | None:
    try:
        return HeadId.parse(name)
    except BadInput:
        return None


def _go_to(page: Door) -> None:
    if page == routes.DEFAULT:
        st.switch_page(routes.file(page), query_params=address_bar.parameters(False))
    else:
        current.go(page)
