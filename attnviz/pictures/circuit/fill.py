"""The circuit: columns of heads, every path between them, and the cut of one path in words.

In: a language, the calls in the order in which they run, what `attnviz.experiment` measured. Out:
the parts of a `CircuitView`. Nothing is computed here: it is chosen what is shown.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from jaxtyping import Float32

from attnviz.errors import TooLarge, UnsupportedAttention
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import local, number, percent_sign
from attnviz.pictures.circuit import SIDES, CircuitColumn, CircuitHead, CutCell, PathDetail
from attnviz.pictures.group import answers
from attnviz.pictures.group.answers import reference_in_words

if TYPE_CHECKING:
    from attnviz.capture.changed.layout import Layout
    from attnviz.capture.changed.references import Reference
    from attnviz.experiment.answers import AnswerReader
    from attnviz.experiment.clean_run import CleanRun
    from attnviz.experiment.cut_path import CutPath
    from attnviz.experiment.paths import Path, Paths
    from attnviz.experiment.weights_alone.circuits import Circuits
    from attnviz.types import Site

MAX_CELLS = 6
Number = TypeVar("Number", float, np.ndarray)
NEAR = 2.0  # a few draws do not show how far chance goes


def columns(layout: "Layout") -> tuple[CircuitColumn, ...]:
    """A column for the heads of each attention call, in the order in which they run."""
    several = len({(call.site.kind, call.site.stack) for call in layout.calls}) > 1
    return tuple(
        CircuitColumn(
            title=f"L{call.site.layer}",
            group=str(call.site.whole_layer).rpartition(".")[0] if several else "",
            heads=tuple(
                CircuitHead(str(call.site.with_head(head)), call.site.layer, head)
                for head in range(call.n_heads)
            ),
        )
        for call in layout.calls
    )


def composed(
    circuits: "Circuits", heads: Sequence["Site"]
) -> Float32[np.ndarray, "sender receiver side"] | None:
    """The z of each pair's composition on each side; None where the weights do not say."""
    try:
        known = [circuits.composition(side) for side in SIDES]
    except (TooLarge, UnsupportedAttention):
        return None
    names = [str(head) for head in known[0].heads]
    if not {str(head) for head in heads} <= set(names):
        return None
    places = [names.index(str(head)) for head in heads]
    z: np.ndarray = np.stack([side.z[np.ix_(places, places)] for side in known], -1)
    return z.astype(np.float32)


def chance_reach(paths: "Paths") -> Float32[np.ndarray, "sender receiver side"]:
    """The least that is told from chance: `NEAR` times as far above it as the largest draw."""
    return np.asarray(_reach(paths.by_chance, paths.chance_range[1]), np.float32)


def told_from_chance(paths: "Paths", count: int) -> "list[Path]":
    """The strongest paths into queries and keys, those near chance last."""

    def is_near(path: "Path") -> bool:
        return path.moved <= _reach(paths.chance(path), paths.chances(path)[1])

    return sorted(paths.strongest(paths.moved.size), key=is_near)[:count]


def _reach(chance: Number, most: Number) -> Number:
    """The reach of chance: `NEAR` times as far above the mean of the draws as the largest."""
    reach: Number = chance + NEAR * (most - chance)
    return reach


def summary(lang: Language, paths: "Paths") -> str:
    """The two strongest paths into queries and keys, each beside what chance moves."""
    strongest = told_from_chance(paths, 2)
    if not strongest:
        return text(lang, "circuit.no_paths")
    listed = _listed(lang, [_path(lang, paths, path) for path in strongest])
    return text(lang, "circuit.summary", paths=listed)


def notes(lang: Language, paths: "Paths", reference: "Reference") -> tuple[str, ...]:
    """Sentences on the number of the strongest path, its control, and what it does not say."""
    strongest = told_from_chance(paths, 1)
    if not strongest:
        return ()
    (path,) = strongest
    means = text(
        lang,
        "circuit.means",
        sender=path.sender,
        receiver=path.receiver,
        side=text(lang, f"component.circuit.side_{path.side}"),
        value=_percent(lang, path.moved),
        reference=reference_in_words(lang, reference),
    )
    return means, text(lang, "circuit.chance"), text(lang, "circuit.not_answer")


def _listed(lang: Language, paths: list[str]) -> str:
    """One path, or two as a list in words."""
    return paths[0] if len(paths) == 1 else text(lang, "circuit.both", a=paths[0], b=paths[1])


def _path(lang: Language, paths: "Paths", path: "Path") -> str:
    low, high = paths.chances(path)
    return text(
        lang,
        "circuit.path",
        sender=path.sender,
        receiver=path.receiver,
        side=text(lang, f"component.circuit.side_{path.side}"),
        value=_percent(lang, path.moved),
        chance=_percent(lang, paths.chance(path)),
        low=_percent(lang, low),
        high=_percent(lang, high),
    )


def _percent(lang: Language, share: float) -> str:
    """A share in percent; what is smaller than a hundredth of it is said to be."""
    percent = 100 * share
    if 0 < percent < 0.01:
        return local(lang, "<0.01")
    return number(lang, percent, ".2g" if percent < 10 else ".0f")


def detail(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    cut: "CutPath",
    tokens: tuple[Sequence[str], Sequence[str]],
    reference: "Reference",
) -> PathDetail:
    """The cut of a path: attention moved, weight of the cell that changes most, and the answer."""
    side = text(lang, f"component.circuit.side_{cut.side}")
    cells = cut.cells(MAX_CELLS)
    sentences = _moved(lang, cut, side, reference_in_words(lang, reference))
    if cells and cut.side != "v":
        sentences.append(_weight(lang, cut, cells[0], tokens))
    return PathDetail(
        title=f"{cut.sender} → {cut.receiver}, {side}",
        sentences=(*sentences, *_answer(lang, prepared, answer, cut, side)),
        columns=_columns(lang, cut),
        cells=tuple(_cell(lang, cut, query, key, tokens) for query, key in cells),
    )


def _moved(lang: Language, cut: "CutPath", side: str, reference: str) -> list[str]:
    """Sentences on what the path moves, beside chance and the same path from other heads.

    Chance is that of `Paths`, of the same draws, so that a path has one number on the page.
    """
    from attnviz.experiment.paths import CHANCE_DRAWS

    kind = "_v" if cut.side == "v" else ""
    said = [
        text(
            lang,
            f"circuit.moved{kind}",
            sender=cut.sender,
            receiver=cut.receiver,
            side=side,
            moved=_percent(lang, cut.moved),
            reference=reference,
        )
    ]
    if cut.side != "v":
        drawn = cut.moved_by_chance[:CHANCE_DRAWS]
        ends = {"mean": drawn.mean(), "low": drawn.min(), "high": drawn.max()}
        numbers = {name: _percent(lang, float(end)) for name, end in ends.items()}
        said.append(text(lang, "circuit.by_chance", side=side, draws=len(drawn), **numbers))
        if cut.moved <= drawn.max():
            said.append(text(lang, "circuit.no_more"))
    others = cut.moved_by_controls
    if not len(others):
        return [*said, text(lang, "circuit.no_others")]
    median, most = _percent(lang, float(np.median(others))), _percent(lang, float(others.max()))
    said.append(text(lang, "circuit.by_others", n=len(others), median=median, most=most))
    return said


def _weight(
    lang: Language,
    cut: "CutPath",
    cell: tuple[int, int],
    tokens: tuple[Sequence[str], Sequence[str]],
) -> str:
    query, key = cell
    values = {
        "cell": _label(cut, query, key, tokens),
        "was": number(lang, cut.before[query, key], ".3f"),
        "now": number(lang, cut.after[query, key], ".3f"),
    }
    others = cut.weights_by_controls[:, query, key]
    if not len(others):
        return text(lang, "circuit.weight_alone", **values)
    return text(lang, "circuit.weight", **values, median=number(lang, np.median(others), ".3f"))


def _answer(
    lang: Language, prepared: "CleanRun", answer: "AnswerReader", cut: "CutPath", side: str
) -> tuple[str, ...]:
    """The answer with the path cut, and how far it moves beside chance and other heads."""
    before, after = cut.answer.before, cut.answer.after
    own = answers.moved(answer, before, after)
    by_chance, by_others = (
        [answers.moved(answer, before, row) for row in rows]
        for rows in (cut.answer_by_chance, cut.answer.controls)
    )
    said = [answers.changed_sentence(lang, prepared, answer, cut.answer, "circuit")]
    if answers.unit_of(answer) == "percent":
        best = int(np.argmax(before))
        name = answers.choice_name(lang, prepared, answer, best)
        points = answers.points(lang, float(after[best] - before[best]))
        values = {"percent": answers.share(lang, own), "before": name, "points": points}
        said.append(text(lang, "circuit.moves", **values))
    else:
        said.append(text(lang, "circuit.moves_by", own=_amount(lang, answer, own)))
    said.append(text(lang, "circuit.control", side=side, **_spread(lang, answer, by_chance)))
    if own <= max(by_chance):
        said.append(text(lang, "circuit.no_more_answer"))
    if by_others:
        said.append(text(lang, "circuit.others.control", **_spread(lang, answer, by_others)))
    return tuple(said)


def _spread(lang: Language, answer: "AnswerReader", moved: list[float]) -> dict[str, str | int]:
    """The count, median and largest of what controls move."""
    median, most = (_amount(lang, answer, float(end(moved))) for end in (np.median, np.max))
    return {"draws": len(moved), "median": median, "most": most}


def _amount(lang: Language, answer: "AnswerReader", value: float) -> str:
    """A distance that an answer moved; of probabilities that sum to 1 in percent."""
    unit = answers.unit_of(answer)
    if unit == "percent":
        return answers.share(lang, value) + percent_sign(lang)
    return answers.amount(lang, value, unit)


def _columns(lang: Language, cut: "CutPath") -> tuple[str, ...]:
    names = ("cell", "weight", "value") if cut.side == "v" else ("cell", "weight", "cut", "others")
    return tuple(text(lang, f"circuit.column_{name}") for name in names)


def _cell(
    lang: Language,
    cut: "CutPath",
    query: int,
    key: int,
    tokens: tuple[Sequence[str], Sequence[str]],
) -> CutCell:
    weight = number(lang, cut.before[query, key], ".3f")
    if cut.side == "v":
        values: tuple[str, ...] = (
            weight,
            _percent(lang, float(cut.values[key])) + percent_sign(lang),
        )
    else:
        others = cut.weights_by_controls[:, query, key]
        median = number(lang, np.median(others), ".3f") if len(others) else "–"
        values = (weight, number(lang, cut.after[query, key], ".3f"), median)
    return CutCell(query, key, _label(cut, query, key, tokens), values)


def _label(
    cut: "CutPath", query: int, key: int, tokens: tuple[Sequence[str], Sequence[str]]
) -> str:
    """The tokens of a cell with their positions; positions alone where tokens are unknown."""
    names = [
        f"{place} {labels[place]}" if place < len(labels) else str(place)
        for labels, place in zip(tokens, (query, key), strict=True)
    ]
    return " → ".join(names)
