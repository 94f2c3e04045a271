"""The order of batch and heads in the axes before query and key, inferred from the linear layers.

In: the axes of a softmax before query and key, and the values that it multiplies. Out: a
`HeadLayout`, which brings them into [batch, head, row, column]. Code of a model's own may put heads
before the batch, or join both in either order, so an order counts only if it is shown: under it the
values are the output of a linear layer, head by head, or the mixed values are the input of one.
What the modules declare decides only where no layer shows anything and one order fits.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import torch
from torch import Tensor, nn

from attnviz.capture.record.row_parts import RowPart

HEAD_COUNTS = (
    "num_heads",
    "num_attention_heads",
    "n_heads",
    "n_head",
    "heads",
    "num_attn_heads",
    "n_local_heads",
    "nhead",
    "nheads",
    "nh",
    "h",
)
COMPARED_TOKENS = 2
MAX_MOVED_AXES = 4
SCALED_TOKENS = 4
SCALED_ERROR = 1e-2  # of the largest number: half precision rounds the product


@dataclass(frozen=True)
class HeadLayout:
    """The sizes of the axes before query and key, and the axis of the heads, if there is one."""

    sizes: tuple[int, ...]
    head_axis: int | None

    @property
    def n_heads(self) -> int:
        """The number of heads."""
        return 1 if self.head_axis is None else self.sizes[self.head_axis]

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """The sizes of the axes beside the heads."""
        return tuple(size for axis, size in enumerate(self.sizes) if axis != self.head_axis)

    @property
    def n_batch(self) -> int:
        """The number of rows in the batch; windows or patches beside the heads join it."""
        return math.prod(self.sizes) // self.n_heads

    def by_head(self, tensor: Tensor) -> Tensor:
        """[batch, head, row, column] of a tensor [axes joined, row, column]."""
        rest = tensor.shape[-2:]
        whole = tensor.reshape(*self.sizes, *rest)
        if self.head_axis is not None:
            whole = whole.movedim(self.head_axis, len(self.sizes) - 1)
        return whole.reshape(self.n_batch, self.n_heads, *rest)


def head_count(modules: Sequence[nn.Module]) -> int | None:
    """The number of heads that the innermost of the modules declares; None if none does."""
    for module in reversed(modules):
        for name in HEAD_COUNTS:
            count = vars(module).get(name)
            if isinstance(count, int) and not isinstance(count, bool) and count > 0:
                return count
    return None


def layouts(lead: tuple[int, ...], n_heads: int | None) -> list[HeadLayout]:
    """All layouts that axes of these sizes may have, those with `n_heads` heads first."""
    if len(lead) == 1:
        counts = [count for count in range(1, lead[0] + 1) if lead[0] % count == 0]
        candidates = [HeadLayout((lead[0] // count, count), 1) for count in counts]
        candidates += [HeadLayout((count, lead[0] // count), 0) for count in counts[1:-1]]
    else:
        axes = [*range(1, len(lead)), 0] if lead else []
        candidates = [HeadLayout(lead, axis) for axis in axes]
        candidates.append(HeadLayout(lead, None))
    return sorted(candidates, key=lambda layout: layout.n_heads != n_heads)


def written_by(
    layout: HeadLayout,
    tensor: Tensor,
    written: Tensor,
    *,
    scaled: bool = False,
    part: RowPart | None = None,
) -> bool:
    """True if every head of `tensor` [axes, token, d] is a block of columns of a layer's output.

    The layer wrote [row, column], its rows in any order of batch, windows and tokens. If `scaled`
    is allowed, a head may also be a multiple of its block. The tokens may be a `part` of those that
    the layer wrote.
    """
    heads = layout.by_head(tensor)
    n_batch, _, n_token, width = heads.shape
    n_rows, n_columns = written.numel() // max(written.shape[-1], 1), written.shape[-1]
    n_written = n_token if part is None else part.n_row
    if n_rows != n_batch * n_written or n_columns % width:
        return False
    for rows in _row_orders(written, layout, n_written):
        if part is not None:
            rows = rows[:, part.start : part.stop]
        blocks = rows.reshape(n_batch, n_token, -1, width)
        is_block = _is_a_multiple if scaled else _is_a_block
        if all(is_block(head, blocks) for head in heads.unbind(1)):
            return True
    return False


@dataclass(frozen=True, eq=False)
class Blocks:
    """A layer's input and output [batch, token, d], and the column at which each head begins."""

    read: Tensor
    written: Tensor
    starts: tuple[int, ...]


def blocks_of(layout: HeadLayout, tensor: Tensor, read: Tensor, written: Tensor) -> Blocks | None:
    """The blocks of columns that a layer wrote and that are the heads of `tensor` [axes, token, d].

    The layer read and wrote [row, column], as for `written_by`.
    """
    heads = layout.by_head(tensor)
    n_batch, _, n_token, width = heads.shape
    n_rows, n_columns = written.numel() // max(written.shape[-1], 1), written.shape[-1]
    if n_rows != n_batch * n_token or n_columns % width or len(read) != len(written):
        return None
    both = (_row_orders(rows, layout, n_token) for rows in (read, written))
    for own_read, own_written in zip(*both, strict=True):
        blocks = own_written.reshape(n_batch, n_token, -1, width)
        found = [_block_of(head, blocks) for head in heads.unbind(1)]
        starts = tuple(block * width for block in found if block is not None)
        if len(starts) == len(found):
            return Blocks(own_read, own_written, starts)
    return None


def written_in_order(layout: HeadLayout, tensor: Tensor, written: Tensor) -> bool:
    """True if a layer wrote all heads of `tensor` [axes, token, d] side by side, in their order."""
    width = tensor.shape[-1]
    return any(start % width == 0 for start in _places(layout, tensor, written))


def read_by(layout: HeadLayout, tensor: Tensor, read: Tensor) -> bool:
    """True if a layer read [row, column] all heads of `tensor` [axes, token, d] side by side.

    They may stand among other columns: Luong's attention joins them to the queries.
    """
    return any(True for _ in _places(layout, tensor, read))


def _places(layout: HeadLayout, tensor: Tensor, matrix: Tensor) -> Iterator[int]:
    """The columns of a layer's rows from which all heads of a tensor stand side by side."""
    heads = layout.by_head(tensor)
    n_batch, n_head, n_token, width = heads.shape
    n_rows, n_columns = matrix.numel() // max(matrix.shape[-1], 1), matrix.shape[-1]
    if n_rows != n_batch * n_token or n_columns < n_head * width:
        return
    joined = heads.transpose(1, 2).flatten(2)
    for rows in _row_orders(matrix, layout, n_token):
        for start in _starts(joined[0, 0], rows[0, 0]):
            if _are_equal(joined, rows[..., start : start + n_head * width]):
                yield start


def _starts(part: Tensor, row: Tensor) -> list[int]:
    """The places at which a row has the numbers of a part of it."""
    windows = row.unfold(0, len(part), 1)
    starts: list[int] = (windows == part.to(row.dtype)).all(-1).nonzero()[:, 0].tolist()
    return starts


def declared(lead: tuple[int, ...], n_heads: int | None) -> HeadLayout | None:
    """The layout that follows from the sizes and from what the modules declare, if just one does.

    Joined axes follow only if there is one text, or one head.
    """
    if math.prod(lead) == 1:
        return HeadLayout(lead, None)
    if n_heads is None:
        return None
    axes = [axis for axis, size in enumerate(lead) if size == n_heads]
    if len(lead) == 1:
        if n_heads == 1:
            return HeadLayout(lead, None)
        return HeadLayout(lead, 0) if axes else None
    return HeadLayout(lead, axes[0]) if len(axes) == 1 else None


def _row_orders(rows: Tensor, layout: HeadLayout, n_token: int) -> Iterator[Tensor]:
    """[batch, token, column] of rows, for each order that batch, windows and tokens may have."""
    sizes, n_columns = (*layout.batch_sizes, n_token), rows.shape[-1]
    moved = [axis for axis, size in enumerate(sizes) if size > 1][:MAX_MOVED_AXES]
    for order in permutations(moved):
        axes = list(range(len(sizes)))
        for place, axis in zip(moved, order, strict=True):
            axes[place] = axis
        whole = rows.reshape(*(sizes[axis] for axis in axes), n_columns)
        back = [axes.index(axis) for axis in range(len(sizes))]
        yield whole.permute(*back, len(sizes)).reshape(layout.n_batch, n_token, -1)


def _is_a_block(head: Tensor, blocks: Tensor) -> bool:
    """True if a head [batch, token, d] is one of the blocks [batch, token, block, d]."""
    return _block_of(head, blocks) is not None


def _block_of(head: Tensor, blocks: Tensor) -> int | None:
    """The number of the block [batch, token, block, d] that a head [batch, token, d] is."""
    sample = head[0, :COMPARED_TOKENS, None].to(blocks.dtype)
    is_equal = (blocks[0, :COMPARED_TOKENS] == sample).all(-1).all(0)
    some = is_equal.nonzero()[:2, 0].tolist()
    return next((block for block in some if _are_equal(head, blocks[:, :, block])), None)


def _is_a_multiple(head: Tensor, blocks: Tensor) -> bool:
    """True if a head [batch, token, d] is one number times one of the blocks."""
    used, written = head[0, :SCALED_TOKENS].float(), blocks[0, :SCALED_TOKENS].float()
    size = (written * written).sum((0, 2)).clamp(min=torch.finfo(torch.float32).tiny)
    factors = (used[:, None] * written).sum((0, 2)) / size
    error = (used[:, None] - written * factors[:, None]).abs().amax((0, 2))
    limit = SCALED_ERROR * used.abs().max()
    for block in (error <= limit).nonzero()[:2, 0].tolist():
        difference = head.float() - blocks[:, :, block].float() * factors[block]
        if bool((difference.abs() <= SCALED_ERROR * head.abs().max().float()).all()):
            return True
    return False


def _are_equal(left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and torch.equal(left.to(right.dtype), right)
