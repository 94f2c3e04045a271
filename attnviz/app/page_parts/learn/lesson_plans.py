"""Plans for a class: the cards for 45 and 90 minutes, with a question to discuss for each lesson.

In: the language. Out: a box below the lessons, drawn when it is opened; each step leads to its
first card.
"""

import streamlit as st

from attnviz.app.page_parts.learn import open_card
from attnviz.app.session import widgets
from attnviz.i18n import Language, text
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.teach.lessons.cards.times import PLANS, PlanStep, taken


def show_plans(lang: Language) -> None:
    """The plans, one beside the other."""
    key = widgets.key("learn.plans")
    box = st.expander(text(lang, "learn.plans"), key=key, on_change="rerun")
    if not box.open:
        return
    with box:
        for column, plan in zip(st.columns(len(PLANS)), PLANS, strict=True):
            with column:
                _plan(lang, plan)


def _plan(lang: Language, plan: int) -> None:
    st.markdown(f"##### {text(lang, 'learn.plan', minutes=plan)}")
    st.markdown(text(lang, "learn.plan_talk", taken=taken(plan), rest=plan - taken(plan)))
    for number, step in enumerate(PLANS[plan]):
        _step(lang, step, f"{plan}.{number}")


def _step(lang: Language, step: PlanStep, name: str) -> None:
    """The cards of a lesson by their titles, and its question for the class."""
    texts = lesson_texts(step.slug, lang)
    label = text(lang, "learn.plan_step", lesson=texts.title, minutes=step.minutes)
    st.button(
        with_formulas(label),
        key=widgets.key(f"learn.plan.{name}"),
        on_click=open_card.open_at,
        args=(step.slug, step.cards[0]),
    )
    numbers = [str(list(texts.cards).index(card) + 1) for card in step.cards]
    st.caption(text(lang, "learn.plan_cards", cards=", ".join(numbers)))
    st.markdown(f"**{text(lang, 'learn.discuss')}** {with_formulas(texts.discuss)}")
