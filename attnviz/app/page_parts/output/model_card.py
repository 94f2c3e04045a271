"""The card of an embedded model: what it is, its measured figures, and heads worth a look.

In: a model's name. Out: its card, with the command that measures the figures again, and a button
for each head that opens it. The texts of a card were written when the model was trained, in
English.
"""

from collections.abc import Iterator

import streamlit as st

from attnviz.app.session import current, widgets
from attnviz.app.session.messages import plain
from attnviz.checks import card
from attnviz.checks.cards import Figure, HeadNote, TrainingCard
from attnviz.checks.examples import OPENINGS, Opening
from attnviz.i18n import DEFAULT, Language, in_english, joined, text
from attnviz.i18n.numbers import number
from attnviz.types import Site

MAX_CHARS = 2000
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
DIGITS = 4
COLUMN_WIDTHS = (1, 6)  # of a head's name and of what it does


def show(lang: Language, name: str) -> None:
    """The card, with the cell that the model opens on; nothing for a model that has neither."""
    model_card, opening = card(name), OPENINGS.get(name)
    if model_card is None and opening is None:
        return
    st.subheader(text(lang, "card.title"))
    if opening is not None:
        st.markdown(_opening(lang, opening))
    if model_card is None:
        return
    if lang != DEFAULT:
        st.caption(text(lang, "card.in_english"))
    st.markdown(_english(lang, model_card.description.what))
    if model_card.description.heads:
        st.markdown(f"**{text(lang, 'card.heads')}**")
        for number, note in enumerate(model_card.description.heads):
            _head(lang, note, number)
    if model_card.figures:
        st.markdown("\n".join(_table(lang, model_card.figures)))
        st.caption(text(lang, "card.again", command=f"`attnviz check {name}`"))
    with st.expander(text(lang, "card.made")):
        _training(lang, model_card)


def _opening(lang: Language, opening: Opening) -> str:
    return text(
        lang,
        "card.opening",
        head=str(opening.head),
        asks=_plain(opening.query_token),
        answers=_plain(opening.key_token),
        weight=number(lang, opening.weight, ".2f"),
        others=number(lang, opening.others, ".2f"),
    )


def _head(lang: Language, note: HeadNote, place: int) -> None:
    """A note on a head beside a button that opens it; a mean of heads has no button."""
    numbers = {"score": number(lang, note.score, ".2f")}
    if note.chance is not None:
        numbers["chance"] = number(lang, note.chance, ".2f")
    score = text(lang, "card.score_chance" if "chance" in numbers else "card.score", **numbers)
    key = widgets.key(f"card.head.{place}")
    name, does = st.columns(COLUMN_WIDTHS, vertical_alignment="center")
    does.markdown(f"{_english(lang, note.does)} · {score}")
    site = Site.parse(note.head)
    if site is None or site.head is None:
        name.markdown(f"**{_plain(note.head)}**")
    elif name.button(_plain(note.head), key=key, help=text(lang, "card.open"), width="stretch"):
        _open(note, site)


def _open(note: HeadNote, site: Site) -> None:
    """Show the head that a card names, large."""
    kind, stack = (note.kind, note.stack) if note.stack else (None, None)
    assert site.head is not None, note
    current.open_head(site.layer, site.head, stack, kind)
    current.go("head")


def _table(lang: Language, figures: tuple[Figure, ...]) -> Iterator[str]:
    """The figures as the lines of a Markdown table."""
    columns = [text(lang, f"card.{name}") for name in ("figure", "value", "target", "cases")]
    yield f"| {' | '.join(columns)} |"
    yield "|:--|--:|--:|--:|"
    for figure in figures:
        verdict = "" if figure.reached else f" ({text(lang, 'card.missed')})"
        cells = (
            _english(lang, figure.name),
            f"{number(lang, figure.value, f'.{DIGITS}g')}{verdict}",
            f"{'≥' if figure.at_least else '≤'}{NARROW_SPACE}{number(lang, figure.target, 'g')}",
            number(lang, figure.cases) if figure.cases else "",
        )
        yield f"| {' | '.join(cells)} |"


def _training(lang: Language, model_card: TrainingCard) -> None:
    """Data, languages, training, limits and licence, and samples."""
    described, trained = model_card.description, model_card.training
    facts = {
        "data": _english(lang, described.data),
        "languages": joined(lang, described.languages) or "–",
        "training": text(
            lang,
            "card.trained",
            steps=trained.steps,
            minutes=round(trained.minutes),
            threads=trained.threads,
            seed=str(trained.seed),
        ),
        "limits": _english(lang, described.limits),
        "licence": _plain(model_card.licence),
    }
    for name, fact in facts.items():
        st.markdown(f"**{text(lang, f'card.{name}')}** · {fact}")
    if described.samples:
        st.markdown(f"**{text(lang, 'card.samples')}**")
        is_english = described.languages == (DEFAULT,)
        samples = (_english(lang, one) if is_english else _plain(one) for one in described.samples)
        st.markdown("\n".join(f"- {sample}" for sample in samples))


def _english(lang: Language, value: str) -> str:
    return in_english(lang, _plain(value))


def _plain(value: str) -> str:
    return plain(value, MAX_CHARS)
