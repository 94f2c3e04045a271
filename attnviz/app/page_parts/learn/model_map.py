"""The map of the model above a card: its parts lit, those that are switched off on it struck out.

In: an `OpenCard`. Out: a drawn map; a click on a part opens the card that teaches it.
"""

from functools import partial

from attnviz.app.host.draw import draw
from attnviz.app.page_parts.learn import open_card
from attnviz.app.page_parts.learn.open_card import OpenCard
from attnviz.app.session import widgets
from attnviz.i18n import Language
from attnviz.pictures import model_map
from attnviz.pictures.model_map import ModelMapView
from attnviz.teach.lessons.cards import parts
from attnviz.teach.lessons.cards.texts import lesson_texts

LAYERS = 4  # of the story model, whose parts lesson 0 names
WITHOUT = "without"  # the control of the card on which parts are switched off


def show(lang: Language, opened: OpenCard) -> None:
    """Draw the map."""
    titles: dict[str, str] = {
        part: lesson_texts(slug, lang).of(card, "title")
        for part, (slug, card) in parts.CARDS.items()
    }
    lit = parts.about(opened.lesson.slug, opened.name)
    off = model_map.parse(opened.values.get(WITHOUT))
    view = ModelMapView(lit, () if off is None else (off,), LAYERS, titles)
    component = widgets.component_key("learn.model_map")
    draw(model_map.CANVAS, view, component, lang, {"part": partial(_open, component)})


def _open(component: str) -> None:
    part = model_map.parse(widgets.component_value(component, "part"))
    if part is not None:
        open_card.open_at(*parts.CARDS[part])
