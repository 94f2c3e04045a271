"""Which layers made a picture coarser inside an attention module: where its keys are.

An efficient attention lays its tokens out as a picture again, makes it coarser by a convolution or
by pooling, and takes keys and values from that: self-attention with fewer keys than queries.
In: hooks on convolutions and pooling layers, for as long as a model is recorded. Out: for a call,
whether its keys were made of what its queries were made of, and the `Places` of both axes, told
from the sizes that these layers read and wrote and from their kernels. Source: `torch.nn`'s own
formula for the places that a kernel reads.
"""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.capture.locate.own_code import IS_ATTENTION
from attnviz.capture.locate.projections_by_value import storage_of
from attnviz.vision.token_boxes import PatchRange as Span
from attnviz.vision.token_boxes import Places, patches, single, spread

STRIDED = (nn.Conv1d, nn.Conv2d, nn.AvgPool1d, nn.AvgPool2d, nn.MaxPool1d, nn.MaxPool2d)
ADAPTIVE = (
    nn.AdaptiveAvgPool1d,
    nn.AdaptiveAvgPool2d,
    nn.AdaptiveMaxPool1d,
    nn.AdaptiveMaxPool2d,
)
KEPT = 12
MOST_EXTRA = 1  # tokens before the patches: [CLS], which is not made coarser


@dataclass(frozen=True, eq=False)
class Ran:
    """A layer that ran over a picture or a line, inside an attention module."""

    name: str
    module: nn.Module
    into: Tensor
    output: Tensor

    @property
    def before(self) -> tuple[int, ...]:
        return tuple(self.into.shape[2:])

    @property
    def after(self) -> tuple[int, ...]:
        return tuple(self.output.shape[2:])


@dataclass(frozen=True, eq=False)
class Path:
    """Layers that ran one upon the other, from the first one's input to the last one's output."""

    into: Tensor
    output: Tensor
    spans: tuple[tuple[Span, ...], ...]

    @property
    def n_before(self) -> int:
        return math.prod(self.into.shape[2:])

    @property
    def n_after(self) -> int:
        return math.prod(self.output.shape[2:])


class SpatialWatch:
    """Forward hooks on a model's convolutions and pooling layers."""

    def __init__(self, modules: Mapping[str, nn.Module], is_active: Callable[[], bool]) -> None:
        self._is_active = is_active
        self._recent: deque[Ran] = deque(maxlen=KEPT)
        self._grid: tuple[int, int] | None = None
        attention = [
            f"{name}." for name, of in modules.items() if IS_ATTENTION.search(type(of).__name__)
        ]
        layers = {name: of for name, of in modules.items() if isinstance(of, STRIDED + ADAPTIVE)}
        inside = {name for name in layers if name.startswith(tuple(attention))}
        self._handles = [
            of.register_forward_hook(self._hook(name, name in inside))
            for name, of in layers.items()
        ]

    def close(self) -> None:
        """Remove the hooks and drop what was kept."""
        for handle in self._handles:
            handle.remove()
        self._recent.clear()

    def _hook(self, name: str, inside: bool) -> Callable[[nn.Module, object, object], None]:
        def seen(module: nn.Module, args: object, output: object) -> None:
            into = args[0] if isinstance(args, tuple) and args else None
            if not isinstance(into, Tensor) or not isinstance(output, Tensor):
                return
            if not self._is_active() or into.dim() < 3:
                return
            if inside:
                self._recent.append(Ran(name, module, into.detach(), output.detach()))
            elif output.dim() == 4:
                self._grid = (output.shape[2], output.shape[3])

        return seen

    def take(self, module: str) -> list[Path]:
        """What ran inside an attention module since it was last asked for."""
        own = [ran for ran in self._recent if ran.name.startswith(f"{module}.")]
        self._recent.clear()
        return _paths(own)

    def places(
        self, found: Sequence[Path], n_batch: int, n_query: int, n_key: int
    ) -> tuple[Places | None, Places | None]:
        """Where queries and keys are; None for an axis that is not known."""
        made = [path for path in found if len(path.into) == n_batch and path.into.dim() == 4]
        for extra in range(MOST_EXTRA + 1):
            fits = [
                path
                for path in made
                if (path.n_before, path.n_after) == (n_query - extra, n_key - extra)
            ]
            if n_key != n_query and fits and len({path.spans for path in fits}) == 1:
                grid = (fits[0].into.shape[2], fits[0].into.shape[3])
                rows, columns = fits[0].spans
                return patches(grid, extra), spread(grid, rows, columns, extra)
        return self._whole(n_query, n_key)

    def _whole(self, n_query: int, n_key: int) -> tuple[Places | None, Places | None]:
        """The grid that the layers before the attention wrote, where its tokens are all there."""
        grid = self._grid
        if grid is None or n_query != n_key or not 0 <= n_query - math.prod(grid) <= MOST_EXTRA:
            return None, None
        found = patches(grid, n_query - math.prod(grid))
        return found, found


def where_coarse(calls: Sequence[AttentionCall]) -> list[AttentionCall]:
    """The calls, without places where no layer of their stack has coarse ones.

    Patch by patch is what tokens of a picture are anyway.
    """
    stacks = {
        call.stack
        for call in calls
        if any(of is not None and of.coarse for of in (call.query_places, call.key_places))
    }
    return [
        call
        if call.stack in stacks and call.kind == "self"
        else replace(call, query_places=None, key_places=None)
        for call in calls
    ]


def leads(found: Sequence[Path], query_input: Tensor, key_input: Tensor) -> bool:
    """Whether what the queries are made of became, by one of the paths, what the keys are made of.

    The path must begin at the numbers that the queries' layer read, and end with as many places as
    the keys' layer read.
    """
    n_query, n_key = query_input.shape[-2], key_input.shape[-2]
    return any(
        (path.n_before, path.n_after) == (n_query - extra, n_key - extra)
        and _same_numbers(path.into, query_input[:, extra:])
        for path in found
        for extra in range(MOST_EXTRA + 1)
    )


def _same_numbers(picture: Tensor, tokens: Tensor) -> bool:
    """Whether a picture [batch, d, row, column] is these tokens [batch, token, d], row by row."""
    laid = picture.flatten(2).transpose(1, 2)
    return laid.shape == tokens.shape and bool((laid == tokens).all())


def _paths(runs: list[Ran]) -> list[Path]:
    """Runs of layers joined where one reads what the other wrote; all of their ends."""
    paths: list[Path] = []
    for ran in runs:
        spans = tuple(
            _spans(ran.module, axis, before, after)
            for axis, (before, after) in enumerate(zip(ran.before, ran.after, strict=True))
        )
        path = Path(ran.into, ran.output, spans)
        for earlier in reversed(paths):
            if _same_place(earlier.output, ran.into):
                joined = tuple(
                    _through(of, by) for of, by in zip(spans, earlier.spans, strict=True)
                )
                path = replace(path, into=earlier.into, spans=joined)
                break
        paths.append(path)
    return paths


def _same_place(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and storage_of(one) == storage_of(other)


def _through(spans: tuple[Span, ...], earlier: tuple[Span, ...]) -> tuple[Span, ...]:
    """What spans of a layer's output are in the input of the layer before it."""
    return tuple((earlier[start][0], earlier[stop - 1][1]) for start, stop in spans)


def _spans(module: nn.Module, axis: int, before: int, after: int) -> tuple[Span, ...]:
    """What each place of the output reads of the input, along one axis."""
    if isinstance(module, ADAPTIVE):
        return tuple((at * before // after, -(-(at + 1) * before // after)) for at in range(after))
    if before == after:
        return single(after)  # a kernel that moves by one place looks around, but stays one place
    kernel, stride, padding, dilation = (
        _of_axis(module, name, axis) for name in ("kernel_size", "stride", "padding", "dilation")
    )
    reach = dilation * (kernel - 1) + 1
    starts = [at * stride - padding for at in range(after)]
    return tuple((max(start, 0), min(start + reach, before)) for start in starts)


def _of_axis(module: nn.Module, name: str, axis: int) -> int:
    of = getattr(module, name, 1)
    found = of[axis] if isinstance(of, tuple) else of
    return found if isinstance(found, int) else 0
