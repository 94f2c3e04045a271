"""The data of Overview and Head: all heads of one capture, packed for the browser.

In: a frozen `HeadsView` of plain numpy arrays and texts, plus strings that are already translated.
Out: the packed buffer (header and weights). The weights travel as rounded square roots, in 8 bits
for the overview, in 16 bits for one head's numbers as long as that stays below `MAX_WIDE_BYTES`;
of a causal model without the future.
The selection is no part of the buffer: it lives in the browser, and a commit must not resend it.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from attnviz.components.buffer import Lower, Packable, pack, packable, quantise
from attnviz.components.selection import Extent
from attnviz.tokens.words import Word
from attnviz.types import MIB
from attnviz.vision.token_boxes import Box

MAX_WIDE_BYTES = 24 * MIB
# the texts of the switches of layer and head (shared/picker.js)
PICKER_KEYS: tuple[str, ...] = (
    "shared.layer",
    "shared.head",
    "shared.previous_layer",
    "shared.next_layer",
    "shared.previous_head",
    "shared.next_head",
)


@dataclass(frozen=True, eq=False)
class TokenAxis:
    """The tokens along one axis: special ones are muted, those that the model wrote are marked."""

    labels: tuple[str, ...]
    special: Bool[np.ndarray, "token"]
    written: Bool[np.ndarray, "token"]


def axes_header(queries: TokenAxis, keys: TokenAxis, cross: bool) -> dict[str, object]:
    """The header of the axes that every component receives."""
    return {
        "tokens": list(queries.labels),
        "special": queries.special.astype(int).tolist(),
        "written": queries.written.astype(int).tolist(),
        "key_tokens": list(keys.labels),
        "key_special": keys.special.astype(int).tolist(),
        "key_written": keys.written.astype(int).tolist(),
        "cross": int(cross),
    }


@dataclass(frozen=True, eq=False)
class Patches:
    """A picture whose patches are the tokens from the `first` one on, row by row."""

    rows: int
    columns: int
    first: int
    picture: UInt8[np.ndarray, "row column rgb"]


@dataclass(frozen=True)
class Pooled:
    """Each point is the largest of `side` × `side` weights; how many queries and keys there are."""

    side: int
    n_query: int
    n_key: int


@dataclass(frozen=True, eq=False)
class Heard:
    """A sound whose frames are the keys, as a spectrogram: high bands on top, 255 is loudest.

    Each frame has as many columns as the others; the sound may end before the last frame.
    """

    levels: UInt8[np.ndarray, "band column"]
    frames: int
    step_s: float
    seconds: float


@dataclass(frozen=True)
class LayerPatches:
    """The part of a picture that a layer sees: `rows` × `columns` patches of the layer's `grid`.

    `top` and `left` are the first of them; what leaves the board at one edge comes back at the
    other. `first` tokens stand before the patches. Where tokens are not one patch after the other,
    `query_boxes` and `key_boxes` say which patches each is, counted from `top` and `left`; `said`
    says in words what they stand for.
    """

    rows: int
    columns: int
    grid: tuple[int, int]
    top: int = 0
    left: int = 0
    first: int = 0
    query_boxes: tuple[Box | None, ...] | None = None
    key_boxes: tuple[Box | None, ...] | None = None
    said: str = ""


@dataclass(frozen=True, eq=False)
class LayerView:
    """The tokens of one layer, what it may attend to, and its window, where layers differ."""

    queries: TokenAxis
    keys: TokenAxis
    visible: Bool[np.ndarray, "query key"]
    patches: LayerPatches | None = None


@dataclass(frozen=True, eq=False)
class HeadMeasure:
    """One number for each head, by which heads can be sorted; NaN where a head has none."""

    name: str
    label: str
    unit: str
    values: Float32[np.ndarray, "layer head"]


@dataclass(frozen=True, eq=False)
class HeadsView:
    """All heads of one attention; `sentences[layer][head]` says in words what a head does most.

    `queries` and `keys` are the tokens on the two axes: the same ones unless it is `cross`.
    `visible` is what each layer may attend to, None where nothing is blocked. `words` and
    `key_words` say which tokens make a word, where that is of use. Where layers differ in heads or
    tokens, `layers` has one for each, and `weights` an array for each; queries, keys and patches
    are then those of the first.
    """

    model: str
    queries: TokenAxis
    keys: TokenAxis
    cross: bool
    sentences: tuple[tuple[str, ...], ...]
    weights: Float32[np.ndarray, "layer head query key"] | tuple[Float32[np.ndarray, "_ _ _"], ...]
    patches: Patches | None = None
    measures: tuple[HeadMeasure, ...] = ()
    visible: Bool[np.ndarray, "layer query key"] | None = None
    words: tuple[Word, ...] = ()
    key_words: tuple[Word, ...] = ()
    layers: tuple[LayerView, ...] = ()
    heard: Heard | None = None
    pooled: Pooled | None = None

    @property
    def extent(self) -> Extent:
        """The largest numbers of layers, heads, queries and keys."""
        if isinstance(self.weights, np.ndarray):
            return Extent(*self.weights.shape)
        shapes = [weights.shape for weights in self.weights]
        heads, queries, keys = (max(sizes) for sizes in zip(*shapes, strict=True))
        return Extent(len(shapes), heads, queries, keys, tuple(shape[0] for shape in shapes))

    @property
    def n_weights(self) -> int:
        """The number of weights of all heads."""
        return sum(weights.size for weights in self.weights)


def heads_header(view: HeadsView, strings: Mapping[str, str]) -> dict[str, object]:
    """Everything of a view but its numbers."""
    extent = view.extent
    return {
        "strings": dict(strings),
        "model": view.model,
        **axes_header(view.queries, view.keys, view.cross),
        "n_layers": extent.n_layers,
        "n_heads": extent.n_heads,
        "n_query": extent.n_query,
        "n_key": extent.n_key,
        "shapes": [list(weights.shape) for weights in view.weights] if view.layers else None,
        "layers": [_layer_header(layer) for layer in view.layers],
        "sentences": [list(row) for row in view.sentences],
        "patches": _patches_header(view.patches),
        "heard": heard_header(view.heard),
        "pooled": None if view.pooled is None else asdict(view.pooled),
        "measures": [
            {"name": measure.name, "label": measure.label, "unit": measure.unit}
            for measure in view.measures
        ],
        "words": [[word.start, word.stop, word.text] for word in view.words],
        "key_words": [[word.start, word.stop, word.text] for word in view.key_words],
    }


def pack_heads(
    view: HeadsView, strings: Mapping[str, str], bits: Literal[8, 16], in_full: bool = False
) -> bytes:
    """The buffer of a view, with its picture; `in_full` with what can be seen."""
    header = heads_header(view, strings)
    arrays: dict[str, Packable | Lower] = {"weights": codes(view, bits)}
    if view.patches is not None:
        arrays["picture"] = view.patches.picture
    if view.heard is not None and in_full:
        arrays["spectrum"] = view.heard.levels
    if view.visible is not None and in_full:
        same = (view.visible == view.visible[:1]).all()
        arrays["visible"] = (view.visible[:1] if same else view.visible).astype(np.uint8)
    if view.layers and in_full:
        visible = np.concatenate([layer.visible.ravel() for layer in view.layers])
        arrays["visible"] = visible.astype(np.uint8)
    if view.measures:
        arrays["measures"] = np.stack([measure.values for measure in view.measures]).astype(
            np.float32
        )
    return pack(header, arrays)


def codes(view: HeadsView, bits: Literal[8, 16]) -> Packable | Lower:
    """The weights as codes; one layer after the other where layers differ."""
    if isinstance(view.weights, np.ndarray):
        return packable(view.weights, bits)
    return np.concatenate([quantise(weights, bits).ravel() for weights in view.weights])


def _layer_header(layer: LayerView) -> dict[str, object]:
    cross = len(layer.queries.labels) != len(layer.keys.labels)
    return {
        **axes_header(layer.queries, layer.keys, cross),
        "n_query": len(layer.queries.labels),
        "n_key": len(layer.keys.labels),
        "patches": None if layer.patches is None else layer_patches_header(layer.patches),
    }


def layer_patches_header(patches: LayerPatches) -> dict[str, object]:
    """Its rows and columns of patches, where they are in the layer's grid, and its tokens in it."""
    return {
        "first": patches.first,
        "rows": patches.rows,
        "columns": patches.columns,
        "grid": list(patches.grid),
        "from": [patches.top, patches.left],
        "query_boxes": patches.query_boxes,
        "key_boxes": patches.key_boxes,
        "said": patches.said,
    }


def _patches_header(patches: Patches | None) -> dict[str, int] | None:
    if patches is None:
        return None
    return {"rows": patches.rows, "columns": patches.columns, "first": patches.first}


def heard_header(heard: Heard | None) -> dict[str, float | int] | None:
    """The header of the spectrogram that travels as "spectrum"; None without one."""
    if heard is None:
        return None
    return {"frames": heard.frames, "step_s": heard.step_s, "seconds": heard.seconds}


def wide_bits(view: HeadsView) -> Literal[8, 16]:
    """16 while two bytes for each weight stay within the limit, else 8."""
    return 16 if 2 * view.n_weights <= MAX_WIDE_BYTES else 8


def strings_of(keys: tuple[str, ...], translate: Callable[[str], str]) -> dict[str, str]:
    """A component's strings: key "head.readout" is translated as "component.head.readout"."""
    return {key.rpartition(".")[2]: translate(f"component.{key}") for key in keys}
