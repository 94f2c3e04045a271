"""The figure of all heads: a small picture of each, layers downwards and heads to the right.

In: the weights of every layer. Out: a `Drawing`. Layers may differ in heads and tokens. A small
picture has at most 64 cells along a side; beyond, the largest of neighbouring weights is drawn, as
in the app's overview. All of them are one image, so that the file stays small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from jaxtyping import Float32, UInt8
from numpy.typing import ArrayLike

from attnviz.figures import axes
from attnviz.figures.axes import BASELINE, LINE
from attnviz.figures.drawing import Drawing
from attnviz.figures.matrices import of_weights
from attnviz.figures.sheet import FAINT, MUTED, WHITE, Frame, Matrix, PrintSheet, Segment
from attnviz.figures.style import PAGE, Look, Style, look, numbers, require
from attnviz.figures.text_width import width

MAX_CELLS = 64  # along a side of a small picture
PIXELS, GAP_PIXELS = 128, 8  # of a small picture in the image, and between two of them
GAP = GAP_PIXELS / PIXELS  # in sides of a small picture
MAX_SIDE, MIN_SIDE = 60.0, 4.0
Layers = list[Float32[np.ndarray, "_head _query _key"]]  # layers may differ


def heads(weights: ArrayLike | Sequence[ArrayLike], **style: Unpack[Style]) -> Drawing:
    """All heads: weights [layer, head, query, key], or a list of [head, query, key], one a layer.

    `Style` has the choices, of which an overview uses `width_in`, `size_pt`, `scale` and `title`.
    """
    unused = ("cells", "row_title", "column_title")
    chosen = look({"width_in": PAGE, **style}, unused)
    layers = _layers(weights)
    sheet = PrintSheet(chosen.width, 0.0, chosen.title)
    board = _board(layers, chosen, axes.put_title(sheet, chosen))
    sheet.add(Matrix(board.left, board.top, board.width, board.height, _atlas(layers, chosen)))
    _put_gaps(sheet, board, layers)
    _put_numbers(sheet, board, chosen.size)
    below = board.top + board.height + 6
    room = chosen.width - board.left - 2
    sheet.height = axes.put_weight_bar(sheet, board.left, below, chosen, room)
    return Drawing(sheet)


def _layers(weights: object) -> Layers:
    """The weights of each layer."""
    if isinstance(weights, list | tuple) and weights:
        return [numbers(f"layer {at}", layer, 3) for at, layer in enumerate(weights)]
    return list(numbers("weights", weights, 4))


@dataclass(frozen=True)
class _Board:
    """The places of the small pictures, in points."""

    left: float
    top: float
    side: float
    n_layers: int
    n_heads: int

    @property
    def pitch(self) -> float:
        """From one small picture to the next."""
        return self.side * (1 + GAP)

    @property
    def width(self) -> float:
        return self.n_heads * self.pitch - self.side * GAP

    @property
    def height(self) -> float:
        return self.n_layers * self.pitch - self.side * GAP


def _board(layers: Layers, chosen: Look, top: float) -> _Board:
    n_heads, size = max(len(layer) for layer in layers), chosen.size
    left = width(f"L{len(layers) - 1}", size) + 5
    side = min(MAX_SIDE, (chosen.width - left - 1) / (n_heads * (1 + GAP) - GAP))
    require(
        side >= MIN_SIDE,
        "width_in",
        f"too narrow for {n_heads} heads",
        f"{left / 72 + MIN_SIDE * (1 + GAP) * n_heads / 72:.1f} or more",
    )
    return _Board(left, top + LINE * size + 2, side, len(layers), n_heads)


def _atlas(layers: Layers, chosen: Look) -> UInt8[np.ndarray, "row column rgb"]:
    """All small pictures as one image; where a layer has fewer heads it stays white."""
    step = PIXELS + GAP_PIXELS
    n_heads = max(len(layer) for layer in layers)
    shape = (len(layers) * step - GAP_PIXELS, n_heads * step - GAP_PIXELS, 3)
    image = np.full(shape, 255, dtype=np.uint8)
    for row, layer in enumerate(layers):
        for column, weights in enumerate(layer):
            small = of_weights(_pooled(weights), chosen)
            rows, columns = (np.arange(PIXELS) * count // PIXELS for count in small.shape[:2])
            y, x = row * step, column * step
            image[y : y + PIXELS, x : x + PIXELS] = small[np.ix_(rows, columns)]
            # the gap is as the last column, covered later: white would be one colour too many
            image[y : y + PIXELS, x + PIXELS : x + step] = small[rows, -1:][:, :1]
        if row + 1 < len(layers):
            image[y + PIXELS : y + step] = image[y + PIXELS - 1]
    return image


def _pooled(weights: Float32[np.ndarray, "query key"]) -> Float32[np.ndarray, "row column"]:
    """The weights, or the largest of neighbouring ones where there are too many."""
    rows, columns = (-(-count // MAX_CELLS) for count in weights.shape)
    if rows == columns == 1:
        return weights
    padded = np.pad(weights, ((0, -len(weights) % rows), (0, -weights.shape[1] % columns)))
    blocks = padded.reshape(padded.shape[0] // rows, rows, padded.shape[1] // columns, columns)
    pooled: Float32[np.ndarray, "row column"] = blocks.max(axis=(1, 3))
    return pooled


def _put_gaps(sheet: PrintSheet, board: _Board, layers: Layers) -> None:
    """White lines between the small pictures, and a frame around each."""
    gap, right = board.side * GAP, board.left + board.width
    bottom = board.top + board.height
    for column in range(1, board.n_heads):
        x = board.left + column * board.pitch - gap / 2
        sheet.add(Segment(x, board.top, x, bottom, WHITE, gap))
    for row in range(1, board.n_layers):
        y = board.top + row * board.pitch - gap / 2
        sheet.add(Segment(board.left, y, right, y, WHITE, gap))
    for row, layer in enumerate(layers):
        for column in range(len(layer)):
            x, y = board.left + column * board.pitch, board.top + row * board.pitch
            sheet.add(Frame(x, y, board.side, board.side, FAINT, 0.3))


def _put_numbers(sheet: PrintSheet, board: _Board, size: float) -> None:
    """H0, H1, … above and L0, L1, … to the left; every second or third where they would touch."""
    every = int(np.ceil((width(f"H{board.n_heads - 1}", size) + 2) / board.pitch))
    for head in range(0, board.n_heads, every):
        middle = board.left + head * board.pitch + board.side / 2
        sheet.text(middle, board.top - 3, f"H{head}", size, "middle", colour=MUTED)
    every = int(np.ceil(LINE * size / board.pitch))
    for layer in range(0, board.n_layers, every):
        y = board.top + layer * board.pitch + board.side / 2 + BASELINE * size
        sheet.text(board.left - 4, y, f"L{layer}", size, "end", colour=MUTED)
