"""Effects: how far the answer moves without each head, or one look of it, told to the pictures.

In: a frozen `EffectsView` whose texts are already translated. Out: nothing; it has no picture of
its own. The numbers are measured after the heads are on screen: Overview and Head are sent no
second time, but told by this canvas (`shared/effects.js`), which they recognise by the name of the
capture.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import Canvas


@dataclass(frozen=True, eq=False)
class EffectsView:
    """The effect of each head of one attention, or of its look at a `cell`; NaN for none.

    `capture` is that of the `HeadsView` that shows the heads. `median` is the effect of the median
    head, the control; what is above `least` matters. `sentences[layer][head]` says the effect
    beside its control, `legend` what is measured and how much the largest is, `most`. `cell` is the
    query and the key of the look that is forbidden, None where the whole head is taken away; then
    `before` and `answers[layer][head]` are the likeliest answers with their probabilities, "" where
    an answer is no choice.
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


CANVAS = Canvas("effects", (EffectsView,))
