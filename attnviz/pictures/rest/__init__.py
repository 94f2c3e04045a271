"""Rest: what the pictures of heads are told once they are on screen.

In: a frozen `RestView` whose texts are already translated. Out: nothing; it has no picture of its
own. Overview and Head are drawn before their heads are measured, and Overview of a long text before
its weights have come; they take what follows from this canvas (`shared/rest.js`), which they
recognise by the name of the capture.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.shared.canvas import Canvas, derived, heads
from attnviz.pictures.shared.heads import HeadMeasure, stacked_measures


@dataclass(frozen=True, eq=False)
class RestView:
    """Words, measures and weights that were not sent when the heads of a capture were drawn.

    `sentences[layer][head]` says in words what a head does most; `measures` are numbers of all
    heads. `weights` are those of all heads from the layer `first_layer` on. Each may be absent.
    """

    capture: str
    sentences: tuple[tuple[str, ...], ...] = ()
    measures: tuple[HeadMeasure, ...] = ()
    first_layer: int = 0
    weights: Annotated[Float32[np.ndarray, "layer head query key"] | None, heads(8)] = None

    @derived
    def measured(self) -> Float32[np.ndarray, "measure layer head"] | None:
        """The numbers of all measures."""
        return stacked_measures(self.measures)


CANVAS = Canvas("rest", (RestView,))
