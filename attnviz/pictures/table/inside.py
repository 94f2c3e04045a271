"""Tables of the effects of a row's edges, the reasons for a cell's weight, and each layer's answer.

In: a language, the tokens, and what `attnviz.experiment` measured. Out:
`TableView`s and sentences. Nothing is computed here: it is chosen what is shown.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from attnviz.i18n import Language, text
from attnviz.i18n.numbers import local, number, percent
from attnviz.pictures.table import TableCell, TableRow, TableView

if TYPE_CHECKING:
    from attnviz.experiment.components import Component
    from attnviz.experiment.edges import Edges
    from attnviz.experiment.lens import Lens
    from attnviz.experiment.why import Why
    from attnviz.types import Site

MAX_KEYS, MAX_PAIRS = 14, 8
MAX_SENDERS = 96  # heads that are taken away one by one as a control
DECIMALS, MAX_DECIMALS, DIGITS = 3, 6, 3
# a change of a weight that is small, or that the loss of many other heads makes too, is not clear
SMALL_CHANGE, MAX_AS_MUCH = 0.01, 0.2
HEAVY, IDLE = 0.2, 0.01  # a weight that is large, an effect that is none beside the largest


def row_table(lang: Language, edges: "Edges", query: int, keys: Sequence[str]) -> TableView:
    """Weight, length and effect of the edges of one query, the heaviest first."""
    effects = edges.exact[query]
    places = [int(key) for key in np.argsort(-edges.weights[query], kind="stable")]
    shown = [key for key in places if np.isfinite(effects[key])][:MAX_KEYS]
    strongest = max(shown, key=lambda key: abs(effects[key]), default=None)
    idle = set(idle_keys(edges, query))
    most = float(np.nanmax(np.abs(edges.exact))) or 1.0
    columns = {"weight": numbers(lang, edges.weights[query, shown], 1.0, 4)}
    if edges.norms is not None:
        longest = float(edges.norms[query].max())
        columns["length"] = numbers(lang, edges.norms[query, shown], longest)
    columns["effect"] = numbers(lang, effects[shown], most)
    rows = []
    for at, key in enumerate(shown):
        mark = text(lang, "inside.idle") if key in idle else ""
        mark = text(lang, "inside.strongest") if key == strongest and key not in idle else mark
        rows.append(TableRow(keys[key], tuple(cells[at] for cells in columns.values()), mark))
    return TableView(
        caption=text(lang, "inside.row_title"),
        corner=text(lang, "inside.key"),
        columns=tuple(text(lang, f"inside.{name}") for name in columns),
        rows=tuple(rows),
        note=_row_note(lang, edges, len(idle)),
    )


def idle_keys(edges: "Edges", query: int) -> list[int]:
    """The keys with a large weight whose cut edge moves the answer by next to nothing."""
    several = np.isfinite(edges.exact[query]).sum() > 1
    most = float(np.nanmax(np.abs(edges.exact)))
    small = np.abs(edges.exact[query]) <= IDLE * most
    heavy = edges.weights[query] >= HEAVY
    return [int(key) for key in np.flatnonzero(heavy & small)] if several else []


def _row_note(lang: Language, edges: "Edges", n_idle: int) -> str:
    computed = np.abs(edges.exact[np.isfinite(edges.exact)])
    place = int(np.nanargmax(np.abs(edges.exact)))
    top_query, top_key = divmod(place, edges.exact.shape[1])
    digits = decimals_for(computed)
    note = text(
        lang,
        "inside.row_control",
        n=len(computed),
        edge=f"{top_query} → {top_key}",
        most=real(lang, float(edges.exact[top_query, top_key]), digits),
        median=real(lang, float(np.median(computed)), digits),
    )
    return f"{text(lang, 'inside.idle_note', n=n_idle)} {note}" if n_idle else note


def numbers(
    lang: Language, values: Sequence[float] | np.ndarray, most: float, decimals: int = DECIMALS
) -> list[TableCell]:
    """A column of numbers in one format, with bars as parts of `most`.

    They have `decimals`, or as many more as the largest needs for three digits.
    """
    digits, most = decimals_for(values, decimals), most or 1.0
    return [
        TableCell(real(lang, float(value), digits), max(-1.0, min(1.0, float(value) / most)))
        for value in values
    ]


def decimals_for(values: Sequence[float] | np.ndarray, least: int = DECIMALS) -> int:
    """The decimals that show three digits of the largest number, `least` of them or more."""
    largest = max((abs(float(value)) for value in values), default=0.0)
    if not 0 < largest < math.inf:
        return least
    return max(least, min(MAX_DECIMALS, DIGITS - 1 - math.floor(math.log10(largest))))


def real(lang: Language, value: float, decimals: int = DECIMALS) -> str:
    """A number with some decimals; one that they do not reach, as less than the last of them."""
    unit = 10.0**-decimals
    if 0 < abs(value) < unit / 2:
        return local(lang, f"{'<' if value > 0 else '>-'}{unit:.{decimals}f}")
    return number(lang, value, f".{decimals}f")


# --- why here -----------------------------------------------------------------------------------


def why_table(lang: Language, why: "Why") -> TableView:
    """The pairs of writers that carry most of a score."""
    pairs = why.pairs(MAX_PAIRS)
    most = max((abs(share) for _, _, share in pairs), default=1.0) or 1.0
    shares = numbers(lang, [share for _, _, share in pairs], most)
    rows = tuple(
        TableRow(
            _writer(lang, asking),
            (
                TableCell(_writer(lang, answering), opens=_path(why, answering)),
                cell,
                *_left(lang, why, asking, answering),
            ),
        )
        for (asking, answering, _), cell in zip(pairs, shares, strict=True)
    )
    columns = ["key_side", "share", *(() if why.without is None else ("left",))]
    note = text(lang, "inside.why_note", error=number(lang, why.error, ".1e"))
    return TableView(
        caption=text(lang, "inside.why_title"),
        corner=text(lang, "inside.query_side"),
        columns=tuple(text(lang, f"inside.{name}") for name in columns),
        rows=rows,
        note=note if why.without is None else f"{_left_note(lang, why)} {note}",
    )


def _path(why: "Why", answering: "Component") -> str:
    """The path from a head to the keys, as the page Circuit has it; "" of other writers."""
    return "" if answering.site is None else f"{answering.site}-{why.head}.k"


def _left(
    lang: Language, why: "Why", asking: "Component", answering: "Component"
) -> tuple[TableCell, ...]:
    """The weight with a pair cut, where that is known."""
    if why.without is None:
        return ()
    left = float(why.without[why.queries.index(asking), why.keys.index(answering)])
    return (TableCell(local(lang, f"{why.weight:.3f} → {left:.3f}"), left),)


def _left_note(lang: Language, why: "Why") -> str:
    """The control of the cut pairs: what the cut of any other pair leaves."""
    assert why.without is not None, "a head without a softcap"
    n_pairs, median = why.without.size, float(np.median(why.without))
    return text(
        lang,
        "inside.left_note",
        n=n_pairs,
        was=number(lang, why.weight, ".3f"),
        median=number(lang, median, ".3f"),
    )


def _writer(lang: Language, component: "Component") -> str:
    """A writer, and the MLPs that it went through; of a module's path its last two parts."""
    label = component.label
    if component.site is None:
        label = ".".join(label.partition(":")[0].split(".")[-2:])
    if component.via:
        return text(lang, "inside.through", writer=label, mlps=" → ".join(component.via))
    return label


def why_sentence(
    lang: Language, why: "Why", tokens: tuple[str, str], quote: Callable[[str], str]
) -> str:
    """A score in words: how far above its row, and the pair that carries most of it."""
    (asking, answering, share), *_ = why.pairs(1)
    return text(
        lang,
        "inside.why",
        head=str(why.head),
        edge=" → ".join(map(quote, tokens)),
        weight=number(lang, why.weight, ".3f"),
        centred=number(lang, why.centred, "+.2f"),
        asking=quote(_writer(lang, asking)),
        answering=quote(_writer(lang, answering)),
        share=number(lang, share, "+.2f"),
    )


def cut_sentence(
    lang: Language, side: str, before: float, after: "Mapping[Site, float]", chosen: "Site"
) -> str:
    """A sentence on the weight without a side's strongest head, and without each of the others."""
    others = np.array([weight for head, weight in after.items() if head != chosen])
    values = {
        "sender": str(chosen),
        "was": number(lang, before, ".3f"),
        "now": number(lang, after[chosen], ".3f"),
    }
    if not others.size:
        return text(lang, f"inside.cut_alone_{side}", **values)
    median = number(lang, float(np.median(others)), ".3f")
    sentence = text(lang, f"inside.cut_{side}", **values, n=len(others), median=median)
    as_much = int((np.abs(others - before) >= abs(after[chosen] - before)).sum())
    return f"{sentence} {_verdict(lang, as_much, len(others), abs(after[chosen] - before))}"


def _verdict(lang: Language, as_much: int, n_others: int, change: float) -> str:
    """The place of a change of a weight among those that other heads make."""
    if change < SMALL_CHANGE:
        return text(lang, "inside.hardly_changes")
    if as_much > MAX_AS_MUCH * n_others:
        return text(lang, "inside.no_clear_effect", as_much=as_much, n=n_others)
    return text(lang, "inside.clear_effect" if as_much else "inside.only_effect", as_much=as_much)


# --- lens ---------------------------------------------------------------------------------------


def lens_table(
    lang: Language,
    lens: "Lens",
    tokens: Sequence[str],
    names: Callable[[Sequence[int]], Sequence[str]],
    chosen: str | None = None,
) -> TableView:
    """The answer of the rest of the model after each layer: words down, states across.

    A click on a guess opens what wrote it, unless `chosen`, the one that is open, is None.
    """
    ids = sorted({int(choice) for choice in np.unique(lens.ids)})
    label = dict(zip(ids, names(ids), strict=True))
    rows = []
    for place, token in enumerate(tokens):
        cells = tuple(
            TableCell(
                label[int(lens.ids[state, place, 0])],
                float(lens.probabilities[state, place, 0]),
                _guesses(lang, lens, (state, place), label),
                _shares(lang, lens, (state, place)),
                "" if chosen is None else f"{place}.{state}",
            )
            for state in range(len(lens.states))
        )
        rows.append(TableRow(token, cells))
    return TableView(
        caption=text(lang, "inside.lens_title"),
        corner=text(lang, "inside.lens_corner"),
        columns=(text(lang, "inside.embeddings"), *lens.states[1:]),
        rows=tuple(rows),
        kind="tint",
        note=_lens_note(lang, lens),
        chosen=chosen or "",
    )


def _shares(lang: Language, lens: "Lens", at: tuple[int, int]) -> str:
    """The probability of the likeliest choice, and of the same one at the other positions."""
    share = percent(lang, lens.probabilities[at][0])
    other = None if lens.elsewhere is None else percent(lang, lens.elsewhere[at][0])
    return share if other is None else f"{share} ({other})"


def _lens_note(lang: Language, lens: "Lens") -> str:
    """The note below the table, with the control of its guesses where there is one."""
    note = text(lang, "inside.lens_note", error=number(lang, lens.error, ".1e"))
    return note if lens.elsewhere is None else f"{text(lang, 'inside.lens_control')} {note}"


def _guesses(lang: Language, lens: "Lens", at: tuple[int, int], label: Mapping[int, str]) -> str:
    """The likeliest tokens with their probabilities, here and at the other positions."""
    shares = [percent(lang, share, ".1f") for share in lens.probabilities[at]]
    if lens.elsewhere is not None:
        others = [percent(lang, share, ".1f") for share in lens.elsewhere[at]]
        shares = [
            text(lang, "inside.lens_share", here=here, others=there)
            for here, there in zip(shares, others, strict=True)
        ]
    names = [label[int(choice)] for choice in lens.ids[at]]
    return " · ".join(f"{name} {share}" for name, share in zip(names, shares, strict=True))
