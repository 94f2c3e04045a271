"""Keys that are blocks of patches: the layers that make a picture coarser inside an attention.

An efficient attention lays its tokens out as a picture again, makes it coarser by a convolution or
by pooling, and takes keys and values from that: self-attention with fewer keys than queries.
In: hooks on convolutions and pooling layers, for as long as a model is recorded. Out: whether the
keys of a call were computed from the input of its queries, and the `Places` of both axes, told by
the sizes that these layers read and wrote and by their kernels. Source: `torch.nn`'s own formula
for the places that a kernel reads.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.capture.locate.layers import storage_of
from attnviz.capture.locate.modules import Hooks, Modules
from attnviz.capture.locate.own_code import named_attention
from attnviz.vision.token_boxes import PatchRange, Places, patches, single, spread

STRIDED = (nn.Conv1d, nn.Conv2d, nn.AvgPool1d, nn.AvgPool2d, nn.MaxPool1d, nn.MaxPool2d)
ADAPTIVE = (
    nn.AdaptiveAvgPool1d,
    nn.AdaptiveAvgPool2d,
    nn.AdaptiveMaxPool1d,
    nn.AdaptiveMaxPool2d,
)
MAX_RUNS = 12
MAX_EXTRA = 1  # tokens before the patches: [CLS], which is not made coarser

Grid = tuple[int, int]


@dataclass(frozen=True, eq=False)
class SpatialRun:
    """A layer that ran over a picture or a line, inside an attention module."""

    name: str
    module: nn.Module
    input: Tensor
    output: Tensor


@dataclass(frozen=True, eq=False)
class SpatialPath:
    """Layers that ran one upon the other, from the first one's input to the last one's output.

    `spans` has, for each axis, the places of the input that each place of the output was made of.
    """

    input: Tensor
    output: Tensor
    spans: tuple[tuple[PatchRange, ...], ...]

    @property
    def n_before(self) -> int:
        """The number of places in the input."""
        return math.prod(self.input.shape[2:])

    @property
    def n_after(self) -> int:
        """The number of places in the output."""
        return math.prod(self.output.shape[2:])


class SpatialWatch:
    """Forward hooks on a model's convolutions and pooling layers."""

    def __init__(self, is_active: Callable[[], bool]) -> None:
        self._is_active = is_active
        self._recent: deque[SpatialRun] = deque(maxlen=MAX_RUNS)
        self._grid: Grid | None = None
        self._hooks = Hooks()

    def watch(self, modules: Modules) -> None:
        """Notice the layers that run from now on."""
        for name, is_inside in modules.fact(_coarsening).items():
            self._hooks.after(modules[name], self._hook(name, is_inside))

    def close(self) -> None:
        """Remove the hooks and drop the layers that were kept."""
        self._hooks.remove()
        self._recent.clear()

    def _hook(self, name: str, in_attention: bool) -> Callable[[nn.Module, object, object], None]:
        def keep(module: nn.Module, args: object, output: object) -> None:
            read = args[0] if isinstance(args, tuple) and args else None
            if not isinstance(read, Tensor) or not isinstance(output, Tensor):
                return
            if not self._is_active() or read.dim() < 3:
                return
            if in_attention:
                self._recent.append(SpatialRun(name, module, read.detach(), output.detach()))
            elif output.dim() == 4:
                self._grid = (output.shape[2], output.shape[3])

        return keep

    def take(self, module: str) -> list[SpatialPath]:
        """The paths of layers that ran inside an attention module since the last call of `take`."""
        inside = [run for run in self._recent if run.name.startswith(f"{module}.")]
        self._recent.clear()
        return _paths(inside)

    def places(
        self, paths: Sequence[SpatialPath], n_batch: int, n_query: int, n_key: int
    ) -> tuple[Places | None, Places | None]:
        """Where queries and keys are; None for an axis that is not known."""
        pictures = [path for path in paths if len(path.input) == n_batch and path.input.dim() == 4]
        for n_extra in range(MAX_EXTRA + 1):
            fitting = [
                path
                for path in pictures
                if (path.n_before, path.n_after) == (n_query - n_extra, n_key - n_extra)
            ]
            if n_key != n_query and fitting and len({path.spans for path in fitting}) == 1:
                grid = (fitting[0].input.shape[2], fitting[0].input.shape[3])
                rows, columns = fitting[0].spans
                return patches(grid, n_extra), spread(grid, rows, columns, n_extra)
        return self._whole_grid(n_query, n_key)

    def _whole_grid(self, n_query: int, n_key: int) -> tuple[Places | None, Places | None]:
        """The grid that the layers before the attention wrote, if all its tokens are there."""
        grid = self._grid
        if grid is None or n_query != n_key or not 0 <= n_query - math.prod(grid) <= MAX_EXTRA:
            return None, None
        places = patches(grid, n_query - math.prod(grid))
        return places, places


def _coarsening(modules: Modules) -> dict[str, bool]:
    """The names of convolutions and pooling layers, and whether each is inside an attention."""
    attention = tuple(f"{name}." for name in modules.fact(named_attention))
    return {
        name: name.startswith(attention)
        for name, module in modules.items()
        if isinstance(module, STRIDED + ADAPTIVE)
    }


def where_coarse(calls: Sequence[AttentionCall]) -> list[AttentionCall]:
    """The calls, without places in stacks in which no layer has coarse ones.

    Tokens of a picture are one patch each unless something else is known.
    """
    stacks = {
        call.stack
        for call in calls
        for places in (call.query_places, call.key_places)
        if places is not None and places.coarse
    }
    return [
        call
        if (call.query_places is None and call.key_places is None)
        or (call.stack in stacks and call.kind == "self")
        else replace(call, query_places=None, key_places=None)
        for call in calls
    ]


def leads(paths: Sequence[SpatialPath], query_input: Tensor, key_input: Tensor) -> bool:
    """True if one of the paths leads from the input of the queries to the input of the keys.

    The path must begin at the numbers that the queries' layer read, and end with as many places as
    the keys' layer read: then it is self-attention on coarser keys.
    """
    n_query, n_key = query_input.shape[-2], key_input.shape[-2]
    return any(
        (path.n_before, path.n_after) == (n_query - n_extra, n_key - n_extra)
        and _are_same_numbers(path.input, query_input[:, n_extra:])
        for path in paths
        for n_extra in range(MAX_EXTRA + 1)
    )


def begin_alike(paths: Sequence[SpatialPath]) -> bool:
    """True if all paths begin at the same tensor: they do not tell its readers apart."""
    first = paths[0].input
    return all(
        storage_of(path.input) == storage_of(first)
        or (path.input.shape == first.shape and torch.equal(path.input, first))
        for path in paths[1:]
    )


def _are_same_numbers(picture: Tensor, tokens: Tensor) -> bool:
    """True if a picture [batch, d, row, column] is these tokens [batch, token, d], row by row."""
    flat = picture.flatten(2).transpose(1, 2)
    return flat.shape == tokens.shape and bool((flat == tokens).all())


def _paths(runs: list[SpatialRun]) -> list[SpatialPath]:
    """A path to the output of each run, from the first of the layers that it was computed by."""
    paths: list[SpatialPath] = []
    for run in runs:
        sizes = zip(run.input.shape[2:], run.output.shape[2:], strict=True)
        spans = tuple(
            _spans(run.module, axis, n_before, n_after)
            for axis, (n_before, n_after) in enumerate(sizes)
        )
        path = SpatialPath(run.input, run.output, spans)
        for earlier in reversed(paths):
            written, read = earlier.output, run.input
            if written.shape == read.shape and storage_of(written) == storage_of(read):
                joined = tuple(map(_through, spans, earlier.spans))
                path = replace(path, input=earlier.input, spans=joined)
                break
        paths.append(path)
    return paths


def _through(
    spans: tuple[PatchRange, ...], earlier: tuple[PatchRange, ...]
) -> tuple[PatchRange, ...]:
    """Spans of a layer's output, as spans of the input of the layer before it."""
    return tuple((earlier[start][0], earlier[stop - 1][1]) for start, stop in spans)


def _spans(module: nn.Module, axis: int, n_before: int, n_after: int) -> tuple[PatchRange, ...]:
    """The places of the input that each place of the output reads, along one axis."""
    if isinstance(module, ADAPTIVE):
        return tuple(
            (place * n_before // n_after, -(-(place + 1) * n_before // n_after))
            for place in range(n_after)
        )
    if n_before == n_after:
        return single(n_after)  # a kernel that moves by one place looks around, but stays there
    kernel, stride, padding, dilation = (
        _of_axis(module, name, axis) for name in ("kernel_size", "stride", "padding", "dilation")
    )
    n_read = dilation * (kernel - 1) + 1
    starts = [place * stride - padding for place in range(n_after)]
    return tuple((max(start, 0), min(start + n_read, n_before)) for start in starts)


def _of_axis(module: nn.Module, name: str, axis: int) -> int:
    """A layer's setting for one axis; 0 if it is not a number, as for padding by name."""
    setting = getattr(module, name, 1)
    value = setting[axis] if isinstance(setting, tuple) else setting
    return value if isinstance(value, int) else 0
