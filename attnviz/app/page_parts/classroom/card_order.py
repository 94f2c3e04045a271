"""The cards that a presenter shows, and their order: hidden ones left out.

In: a lesson, or a plan over several. Out: the names of its cards as this session wants them, chosen
before a class or while it runs. A card that is taken out and put back comes last. A plan has its
own cards.
"""

import streamlit as st

from attnviz.app.server import course_lessons
from attnviz.app.session import store, widgets
from attnviz.i18n import Language, text
from attnviz.teach.lessons.cards.glossary import CardPath
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.teach.lessons.cards.times import PLANS, planned_cards

ORDER = "class.order"
PLAN = "class.plan"  # the minutes of the plan that the class goes by


def plan() -> int:
    """The minutes of the plan that this session's class goes by; 0 for a lesson."""
    return int(store.get(PLAN) or 0)


def go_by(minutes: int) -> None:
    """Go by the plan of so many minutes, 0 for none."""
    store.put(PLAN, minutes if minutes in PLANS else 0)


def way(slug: str) -> tuple[CardPath, ...]:
    """The cards that the class sees one after the other, of several lessons in a plan."""
    planned = tuple((card.slug, card.card) for card in planned_cards(plan())) if plan() else ()
    if any(lesson == slug for lesson, _ in planned):
        return planned
    return tuple((slug, name) for name in order(slug))


def order(slug: str) -> tuple[str, ...]:
    """The names of the lesson's cards in the order in which the class sees them; never empty."""
    planned = [card.card for card in planned_cards(plan()) if card.slug == slug] if plan() else []
    if planned:
        return tuple(planned)
    names = tuple(recipe.name for recipe in course_lessons.lesson(slug).recipes)
    chosen = tuple(name for name in store.get(_name(slug), names) if name in names)
    return chosen or names


def take_back(slug: str, names: tuple[str, ...]) -> None:
    """Have the order that a class was given before this page was loaded again."""
    store.put(_name(slug), names)


def choose(lang: Language, slug: str) -> None:
    """A list of the cards: take one out to hide it, put it back to have it come last."""
    texts = lesson_texts(slug, lang)
    names = [recipe.name for recipe in course_lessons.lesson(slug).recipes]
    # as text and before the numbers are known: the list sets no Markdown
    titles = [texts.of(name, "title").partition("[[")[0].rstrip() for name in names]
    st.multiselect(
        text(lang, "class.cards"),
        names,
        key=widgets.showing(_name(slug), list(order(slug))),
        format_func=lambda name: f"{names.index(name) + 1}. {titles[names.index(name)]}",
        on_change=_take,
        args=(slug,),
    )
    st.caption(text(lang, "class.cards_help"))
    st.button(
        text(lang, "class.cards_all"),
        key=widgets.key(f"class.cards_all.{slug}"),
        on_click=store.put,
        args=(_name(slug), tuple(names)),
    )


def _take(slug: str) -> None:
    chosen = widgets.value(_name(slug))
    if isinstance(chosen, list):
        store.put(_name(slug), tuple(chosen))


def _name(slug: str) -> str:
    return f"{ORDER}.{slug}"
