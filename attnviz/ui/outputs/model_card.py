"""The card of an embedded model, for whoever wants to know what it is and where to look.

In: a model's name. Out: what it is, how it was made, what it reached and by which command that is
measured again, its limits, and its heads worth a visit, each a button that opens it. The texts of a
card were written when the model was trained, in English.
"""

import re
from collections.abc import Iterator

import streamlit as st

from attnviz.checks import card
from attnviz.checks.cards import HeadNote, ModelCard
from attnviz.checks.figure import Figure
from attnviz.i18n import DEFAULT, Language, text
from attnviz.ui.session import routes, state
from attnviz.ui.session.messages import plain

PLACE = re.compile(r"L(\d+)\.H(\d+)")
MOST_CHARS = 2000
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
DIGITS = 4
NAME_AND_DOES = (1, 6)  # widths


def show(lang: Language, name: str) -> None:
    """The card; nothing for a model that has none."""
    found = card(name)
    if found is None:
        return
    st.subheader(text(lang, "card.title"))
    if lang != DEFAULT:
        st.caption(text(lang, "card.in_english"))
    st.markdown(_said(found.description.what))
    if found.description.heads:
        st.markdown(f"**{text(lang, 'card.heads')}**")
        for place, note in enumerate(found.description.heads):
            _head(lang, note, place)
    if found.figures:
        st.markdown("\n".join(_table(lang, found.figures)))
        st.caption(text(lang, "card.again", command=f"`attnviz check {name}`"))
    with st.expander(text(lang, "card.made")):
        _made(lang, found)


def _head(lang: Language, note: HeadNote, place: int) -> None:
    """What a head does beside a button that opens it; a mean of heads has no button."""
    numbers = {"score": f"{note.score:.2f}"}
    if note.chance is not None:
        numbers["chance"] = f"{note.chance:.2f}"
    score = text(lang, "card.score_chance" if "chance" in numbers else "card.score", **numbers)
    key = state.widget_key(f"card.head.{place}")
    name, does = st.columns(NAME_AND_DOES, vertical_alignment="center")
    does.markdown(f"{_said(note.does)} · {score}")
    if PLACE.fullmatch(note.head) is None:
        name.markdown(f"**{_said(note.head)}**")
    elif name.button(_said(note.head), key=key, help=text(lang, "card.open"), width="stretch"):
        _open(note)


def _open(note: HeadNote) -> None:
    """Show the head that a card names on the page Head."""
    found = PLACE.fullmatch(note.head)
    assert found is not None, note
    kind, stack = (note.kind, note.stack) if note.stack else (None, None)
    layer, head = int(found[1]), int(found[2])
    state.update(stack=stack, kind=kind, mean=None, layer=layer, head=head, query=None, key=None)
    st.switch_page(routes.file("head"), query_params=state.params(state.current()))


def _table(lang: Language, figures: tuple[Figure, ...]) -> Iterator[str]:
    """The figures as the lines of a Markdown table."""
    columns = [text(lang, f"card.{name}") for name in ("figure", "value", "target", "cases")]
    yield f"| {' | '.join(columns)} |"
    yield "|:--|--:|--:|--:|"
    for figure in figures:
        verdict = "" if figure.reached else f" ({text(lang, 'card.missed')})"
        cells = (
            _said(figure.name),
            f"{figure.value:.{DIGITS}g}{verdict}",
            f"{'≥' if figure.at_least else '≤'}{NARROW_SPACE}{figure.target:g}",
            f"{figure.cases:,}" if figure.cases else "",
        )
        yield f"| {' | '.join(cells)} |"


def _made(lang: Language, found: ModelCard) -> None:
    described, trained = found.description, found.training
    facts = {
        "data": _said(described.data),
        "languages": ", ".join(described.languages) or "–",
        "training": text(
            lang,
            "card.trained",
            steps=f"{trained.steps:,}",
            minutes=f"{trained.minutes:.0f}",
            threads=trained.threads,
            seed=trained.seed,
        ),
        "limits": _said(described.limits),
        "licence": _said(found.licence),
    }
    for name, fact in facts.items():
        st.markdown(f"**{text(lang, f'card.{name}')}** · {fact}")
    if described.samples:
        st.markdown(f"**{text(lang, 'card.samples')}**")
        st.markdown("\n".join(f"- {_said(sample)}" for sample in described.samples))


def _said(value: str) -> str:
    return plain(value, MOST_CHARS)
