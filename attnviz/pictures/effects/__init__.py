"""Effects: how far the answer moves without each head, or one look of it, told to the pictures.

In: a frozen `EffectsView` whose texts are already translated; `of_heads` and `of_looks` make one of
measured effects or cuts, each in words beside the median head's. Of whole heads largest effect and
median are those of the model. Out: nothing; it has no picture of its own. The numbers are measured
after the heads are on screen: Overview and Head are sent no second time, but told by this canvas
(`shared/effects.js`), which they recognise by the name of the capture.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32, Float64

from attnviz.i18n import text
from attnviz.pictures.group import answers, heads
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared.canvas import Canvas
from attnviz.types import Site

if TYPE_CHECKING:
    from attnviz.experiment.answers import AnswerReader
    from attnviz.experiment.cuts import Cuts
    from attnviz.experiment.effects import Effects
    from attnviz.experiment.run import Experiment


@dataclass(frozen=True, eq=False)
class EffectsView:
    """The effect of each head of one attention, or of its look at a `cell`; NaN for none.

    `capture` is that of the `HeadsView` that shows the heads. `median` is that of all heads but the
    strongest, its control, or that of all looks; what is above `least` matters.
    `sentences[layer][head]` says the effect beside its control, `legend` what is measured and how
    much the largest is, `most`. `cell` is the query and the key of the look that is forbidden, None
    where the whole head is taken away. `before` and `answers[layer][head]` are the likeliest
    answers with their probabilities where a look is forbidden or a head edited, "" where none is a
    choice. `edited` says what an edit by hand makes of the answer, "" where there is none.
    """

    capture: str
    effects: Float32[np.ndarray, "layer head"]
    most: float
    median: float
    least: float
    sentences: tuple[tuple[str, ...], ...]
    legend: str
    cell: tuple[int, int] | None = None
    before: tuple[str, float] = ("", 0.0)
    answers: tuple[tuple[tuple[str, float], ...], ...] = ()
    edited: str = ""


CANVAS = Canvas("effects", (EffectsView,))


def of_heads(shown: PageContext, answer: "AnswerReader", effects: "Effects") -> EffectsView:
    """The effects of the heads of a group."""
    lang, group = shown.lang, shown.group
    sizes = np.abs(effects.changes)
    first = effects.order[0]
    median, most = effects.others(first).median, float(sizes.max())
    unit = answers.unit_of(answer)
    what = _what(answer)
    table = np.abs(effects.grid(group.kind, group.stack))

    def sentence(layer: int, head: int, effect: float) -> str:
        others = effects.others(Site(layer, head, group.kind, group.stack))
        own = answers.amount(lang, effect, unit)
        again = answers.amount(lang, others.median, unit, "again")
        return text(lang, f"effects.{what}", own=own, n=len(others.heads), median=again)

    sentences = tuple(
        tuple(
            "" if np.isnan(effect) else sentence(layer, head, effect)
            for head, effect in enumerate(row)
        )
        for layer, row in enumerate(table.tolist())
    )
    legend = text(
        lang,
        f"effects.legend_{what}",
        head=str(first),
        most=answers.amount(lang, most, unit, "again"),
        median=answers.amount(lang, median, unit, "again"),
    )
    least = answers.least_that_matters(answer, sizes, effects.spread)
    name = heads.capture_name(shown)
    return EffectsView(name, table.astype(np.float32), most, median, least, sentences, legend)


def of_looks(shown: PageContext, run: "Experiment", cuts: "Cuts") -> EffectsView:
    """The effect of one look, forbidden in each head of a group; the row grows to 1 again."""
    lang, answer, unit = shown.lang, run.reader, answers.unit_of(run.reader)
    extent = shown.size.extent
    table = np.full((extent.n_layers, extent.n_heads), np.nan, dtype=np.float32)
    sentences = [[""] * extent.n_heads for _ in range(extent.n_layers)]
    chosen = [[("", 0.0)] * extent.n_heads for _ in range(extent.n_layers)]
    is_choice = answer.is_probability and answer.exclusive

    def named(at: int) -> str:
        return answers.choice_name(lang, run.prepared, answer, at).strip()

    median, most = float(np.median(cuts.moved)), float(cuts.moved.max())
    again = answers.amount(lang, median, unit, "again")
    for at, (head, _, _) in enumerate(cuts.edges):
        assert head.head is not None, "each cut is one head's"
        moved, winner = float(cuts.moved[at]), int(cuts.winners[at])
        turns = is_choice and winner != cuts.winner
        if is_choice:
            share = float(cuts.numbers[at, winner])
            chosen[head.layer][head.head] = named(winner), share
        table[head.layer, head.head] = moved
        said = text(
            lang,
            f"effects.look_{'turns' if turns else _what(answer)}",
            own=answers.amount(lang, moved, unit),
            median=again,
            answer=named(winner),
        )
        nothing = answers.without_weight(lang, float(cuts.weights[at]))
        sentences[head.layer][head.head] = " ".join(filter(None, (said, nothing)))
    legend = text(
        lang,
        "effects.legend_look",
        head=str(cuts.edges[int(cuts.moved.argmax())][0]),
        most=answers.amount(lang, most, unit),
        median=again,
    )
    least = answers.least_that_matters(answer, cuts.moved, cuts.spread)
    table_said, cell = tuple(map(tuple, sentences)), cuts.edges[0][1:]
    name = heads.capture_name(shown)
    before = (named(cuts.winner), float(answer.clean[cuts.winner])) if is_choice else ("", 0.0)
    answered = tuple(map(tuple, chosen))
    return EffectsView(name, table, most, median, least, table_said, legend, cell, before, answered)


def of_edit(
    answer: "AnswerReader",
    head: Site,
    before: Float64[np.ndarray, " n"],
    after: Float64[np.ndarray, " n"],
    sentence: str,
) -> EffectsView:
    """The answer with a head edited by hand, for the line of the text and the field of the edit."""
    assert head.head is not None, "one head"
    said = [(answer.name(int(row.argmax())).strip(), float(row.max())) for row in (before, after)]
    if not (answer.is_probability and answer.exclusive):
        said = [("", 0.0), ("", 0.0)]
    nothing = ("", 0.0)
    layers = ((),) * head.layer + ((nothing,) * head.head + (said[1],),)
    empty = np.full((head.layer + 1, head.head + 1), np.nan, np.float32)
    sentences = (("",) * (head.head + 1),) * (head.layer + 1)
    return EffectsView("", empty, 0.0, 0.0, 0.0, sentences, "", None, said[0], layers, sentence)


def _what(answer: "AnswerReader") -> str:
    """The name of the thing that moves: a sentence's meaning, vectors, or an answer."""
    return {"cosines": "meaning", "vectors": "output"}.get(answer.kind, "answer")
