"""Rest: what the pictures of heads are told once they are on screen.

In: a frozen `RestView` whose texts are already translated. Out: nothing; it has no picture of its
own. Overview and Head are drawn before their heads are measured, and Overview of a long text before
its weights have come; they take what follows from this canvas (`shared/rest.js`), which they
recognise by the name of the capture.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

import numpy as np
from jaxtyping import Float32

from attnviz.pictures.group import groups
from attnviz.pictures.group import heads as group_heads
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.measures import Measured
from attnviz.pictures.shared.buffer import SomeHeads
from attnviz.pictures.shared.canvas import Canvas, derived, heads
from attnviz.pictures.shared.heads import HeadMeasure, stacked_measures

PART_CELLS = 10 * 2**20  # weights that travel together, one byte each: more would hold the page up


@dataclass(frozen=True, eq=False)
class RestView:
    """Words, measures and weights that were not sent when the heads of a capture were drawn.

    `sentences[layer][head]` says in words what a head does most; `measures` are numbers of all
    heads. `weights` are those of the heads from the layer `first_layer` on. Each may be absent.
    """

    capture: str
    sentences: tuple[tuple[str, ...], ...] = ()
    measures: tuple[HeadMeasure, ...] = ()
    first_layer: int = 0
    weights: Annotated[Float32[np.ndarray, "layer head query key"] | SomeHeads | None, heads(8)] = (
        None
    )

    @derived
    def measured(self) -> Float32[np.ndarray, "measure layer head"] | None:
        """The numbers of all measures."""
        return stacked_measures(self.measures)


CANVAS = Canvas("rest", (RestView,))


def words(shown: PageContext, measured: Measured) -> RestView:
    """A sentence on what each head does most, and every measure that this text has."""
    return RestView(
        group_heads.capture_name(shown),
        group_heads.sentences(shown, measured),
        group_heads.measures(shown.lang, measured),
    )


def parts(shown: PageContext) -> Iterator[range]:
    """The layers that travel together, one part after the other."""
    first, n_cells = 0, 0
    for layer in range(shown.group.n_layers):
        more = shown.size.n_cells_of(layer)
        if n_cells and n_cells + more > PART_CELLS:
            yield range(first, layer)
            first, n_cells = layer, 0
        n_cells += more
    yield range(first, shown.group.n_layers)


def weights(shown: PageContext, layers: range) -> RestView:
    """The weights of the heads of some layers."""
    found = islice(groups.each_layer(shown.group), layers.start, layers.stop)
    name = group_heads.capture_name(shown)
    weights = groups.placed(shown.group, found, layers.start)
    return RestView(name, first_layer=layers.start, weights=weights)
