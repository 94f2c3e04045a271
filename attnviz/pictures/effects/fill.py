"""The effects of all heads in words, beside the median head's.

In: what is shown, how the answer is read, and measured effects. Out: an `EffectsView` of the group
that is shown; largest effect and median are those of all heads of the model.
"""

from typing import TYPE_CHECKING

import numpy as np

from attnviz.i18n import text
from attnviz.pictures.effects import EffectsView
from attnviz.pictures.group import answers, heads
from attnviz.pictures.group.app_capture import PageContext

if TYPE_CHECKING:
    from attnviz.experiment.answers import AnswerReader
    from attnviz.experiment.effects import Effects

# what matters moves the answer so much further than the median head, and this part of the most
TIMES_MEDIAN, PART_OF_MOST = 3.0, 0.05


def view(shown: PageContext, answer: "AnswerReader", effects: "Effects") -> EffectsView:
    """The effects of the heads of a group."""
    lang, group = shown.lang, shown.group
    sizes = np.abs(effects.changes)
    median, most = float(np.median(sizes)), float(sizes.max())
    unit = answers.unit_of(answer)
    what = {"cosines": "meaning", "vectors": "output"}.get(answer.kind, "answer")
    others = answers.amount_again(lang, median, unit)
    table = np.abs(effects.grid(group.kind, group.stack))
    sentences = tuple(
        tuple(
            ""
            if np.isnan(effect)
            else text(
                lang,
                f"effects.{what}",
                own=answers.amount(lang, float(effect), unit),
                median=others,
            )
            for effect in layer
        )
        for layer in table
    )
    legend = text(
        lang,
        f"effects.legend_{what}",
        head=str(effects.order[0]),
        most=answers.amount_again(lang, most, unit),
        median=others,
    )
    least = max(TIMES_MEDIAN * median, PART_OF_MOST * most, effects.spread)
    name = heads.capture_name(shown)
    return EffectsView(name, table.astype(np.float32), most, median, least, sentences, legend)
