"""The pad for pictures like those of the `shapes` world.

Out: its colours, its forms and its size. The app's drawings have names made of these colours.
"""

import numpy as np
from jaxtyping import UInt8

from attnviz.pictures.drawing_pad import DrawingPadView
from attnviz.worlds.forms import OUTLINES, PALETTE, Paint

PAD_SIDE_PX = 384
PAINTS: dict[str, Paint] = {**PALETTE, "black": (28, 30, 34)}
FORM_SEED = 1  # of the outline that the pad places for a form


def pad(first: UInt8[np.ndarray, "row column rgb"] | None = None) -> DrawingPadView:
    """The pad with every paint and every form, empty or with a picture to draw upon."""
    outlines = {name: form(np.random.default_rng(FORM_SEED)) for name, form in OUTLINES.items()}
    return DrawingPadView(side_px=PAD_SIDE_PX, paints=PAINTS, outlines=outlines, first=first)
