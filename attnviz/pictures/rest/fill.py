"""The rest of what pictures of heads show, told after they were drawn, from a capture.

In: what is shown, and its measures or some of its layers. Out: a `RestView`.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from attnviz.pictures.group import groups, heads
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.measures import Measured
from attnviz.pictures.rest import RestView

PART_CELLS = 10 * 2**20  # weights that travel together, one byte each: more would hold the page up


def words(shown: PageContext, measured: Measured) -> RestView:
    """A sentence on what each head does most, and every measure that this text has."""
    return RestView(
        heads.capture_name(shown),
        heads.sentences(shown, measured),
        heads.measures(shown.lang, measured),
    )


def parts(shown: PageContext) -> Iterator[range]:
    """The layers that travel together, one part after the other."""
    extent = shown.size.extent
    step = max(1, PART_CELLS // (extent.n_heads * extent.n_query * extent.n_key))
    for first in range(0, extent.n_layers, step):
        yield range(first, min(first + step, extent.n_layers))


def weights(shown: PageContext, layers: range) -> RestView:
    """The weights of all heads of some layers."""
    found = islice(groups.each_layer(shown.group), layers.start, layers.stop)
    name = heads.capture_name(shown)
    return RestView(name, first_layer=layers.start, weights=np.stack([*found]))
