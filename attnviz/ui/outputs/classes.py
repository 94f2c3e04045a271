"""What a classifier says, as bars: the likeliest classes, and the parts that names are made of.

In: a capture of a model with named classes. Out: bars with numbers. Where the picture is one that
the app generated, what is really on it is known, and its bars are marked.
"""

import streamlit as st

from attnviz.components import bars
from attnviz.i18n import Language, text
from attnviz.outputs import classes as said
from attnviz.ui.host.components import show_bars
from attnviz.ui.session import pictures, state
from attnviz.ui.session.messages import plain
from attnviz.views.captured import Captured
from attnviz.views.texts import strings

MOST_BARS = 10
SIDE_PX = 450
NEARLY_ONE = 0.9995  # rounds to 100.0 %


def fits(captured: Captured) -> bool:
    """Whether the model names classes."""
    return said.has_classes(captured.model, captured.capture)


def show(lang: Language, captured: Captured) -> None:
    """The likeliest classes, and beside them the sums over either word of their names."""
    found = said.classes(captured.model, captured.capture)
    most = float(found.probabilities.max())
    share = f"{100 * most:.1f}" if most < NEARLY_ONE else ">99.9"
    st.markdown(text(lang, "classes.says", name=plain(found.best), percent=share))
    truth = pictures.truth(state.picture_name()) if pictures.is_sampled(captured.name) else ""
    note = text(
        lang, "classes.softmax" if found.exclusive else "classes.sigmoid", count=len(found.names)
    )
    if truth:
        note = f"{note} {text(lang, 'classes.marked')}"
    titled = zip(_factor_titles(lang, captured), said.factors(found), strict=False)
    with st.container(horizontal=True, gap="large"):
        with st.container(width=SIDE_PX):
            _bars(lang, "all", _view(lang, found, text(lang, "classes.title"), truth, note))
        with st.container(width=SIDE_PX):
            for place, (title, factor) in enumerate(titled):
                _bars(lang, f"factor{place}", _view(lang, factor, title, truth))


def _bars(lang: Language, name: str, view: bars.BarsView) -> None:
    data = bars.pack_bars(view, strings(lang, bars.STRING_KEYS))
    show_bars(data, state.component_key(f"classes.{name}"))


def _factor_titles(lang: Language, captured: Captured) -> tuple[str, str]:
    if pictures.is_sampled(captured.name):
        return text(lang, "classes.colour"), text(lang, "classes.form")
    return text(lang, "classes.first_word"), text(lang, "classes.second_word")


def _view(
    lang: Language, of: said.Classes, title: str, truth: str, note: str = ""
) -> bars.BarsView:
    """The first classes as bars; `truth` is the name that is right, or holds the word that is."""
    right = {truth, *truth.split(" ")} if truth else set()
    shown, left = of.order[:MOST_BARS], of.order[MOST_BARS:]
    rows = tuple(
        bars.Bar(
            of.names[each],
            float(of.probabilities[each]),
            mark=text(lang, "classes.drawn") if of.names[each] in right else "",
        )
        for each in shown
    )
    rest = bars.Rest(len(left), float(of.probabilities[list(left)].sum())) if left else None
    return bars.BarsView(title, rows, rest if of.exclusive else None, note)
