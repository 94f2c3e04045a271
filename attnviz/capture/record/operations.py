"""The operations that attention consists of, as torch runs them below Python.

In: an operation with its arguments. Out: its operands under their own names: a `MatrixProduct`
always as [rows, row, inner] times [rows, inner, column], whatever the operation was called.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence
from torch.utils._python_dispatch import _disable_current_modes

from attnviz.capture.locate.layers import storage_of
from attnviz.capture.record.score_trail import TrailedScores

aten = torch.ops.aten


def _existing(*names: str) -> frozenset[Any]:
    """The default overloads of those kernels that this version of torch has."""
    packets = (getattr(aten, name, None) for name in names)
    return frozenset(packet.default for packet in packets if packet is not None)


SOFTMAX = _existing("_softmax", "_safe_softmax")
LOG_SOFTMAX = _existing("_log_softmax")
EXP = _existing("exp", "exp_", "exp2")
LOGSUMEXP = aten.logsumexp.default
TOPK = aten.topk.default
NORMALISING = frozenset({aten.div.Tensor, aten.div_.Tensor, aten.mul.Tensor, aten.mul_.Tensor})
# the last two operands are the factors; an operand before them is added
PRODUCTS = _existing("bmm", "baddbmm", "mm", "addmm", "mv", "addmv")
FUSED = _existing(
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_fused_attention_overrideable",
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_attention_math_for_mps",
)
# how torch's own module scales q before the product
SCALE = aten.mul.Tensor
# how the bias of a layer is added to rows that do not lie one after the other in memory
ADDS = frozenset({aten.add.Tensor, aten.add_.Tensor})
# what adds numbers up by an index
SCATTERS = frozenset(
    {
        *_existing("index_add", "index_add_", "scatter_add", "scatter_add_"),
        *_existing("index_put", "index_put_", "_index_put_impl_", "segment_reduce"),
        aten.scatter_reduce.two,
        aten.scatter_reduce_.two,
    }
)
CONVOLUTION = aten.convolution.default

Stack = tuple[nn.Module, ...]


@dataclass(frozen=True, eq=False)
class MatrixProduct:
    """factor · left·right, or beta · added + factor · left·right."""

    left: Tensor
    right: Tensor
    out: Tensor
    added: Tensor | None = None
    factor: float = 1.0
    beta: float = 1.0


@dataclass(frozen=True, eq=False)
class Scaling:
    """A tensor before and after it was multiplied by a number."""

    before: Tensor
    after: Tensor


@dataclass(frozen=True, eq=False)
class ScoreSource:
    """A product that entered a softmax: its factors and the shape of its result."""

    left: Tensor
    right: Tensor
    shape: tuple[int, ...]
    added: Tensor | None
    is_learned: bool
    has_learned_columns: bool


@dataclass(frozen=True, eq=False)
class LayerRun:
    """A product with a parameter, or a convolution: what it read and wrote.

    Both are [row, column]; the rows of a convolution have several axes. `weight` [d_in, d_out] and
    `bias` are known of a product that nothing else was added to. `raw` is the product's own result,
    [text · matrix, row, column] where it multiplied each text with `n_matrix` matrices; `module` is
    the innermost that ran.
    """

    read: Tensor
    written: Tensor
    weight: Tensor | None = None
    bias: Tensor | None = None
    raw: Tensor | None = None
    n_matrix: int = 1
    module: nn.Module | None = None

    def plus(self, added: Tensor, before: Tensor, out: Tensor) -> "LayerRun | None":
        """The layer with a parameter that was added to it; None if it was added to another tensor.

        What it was added to may be any view of the layer's whole result: as a bias counts what adds
        the same to each row.
        """
        whole = self.written if self.raw is None else self.raw
        if storage_of(before) != storage_of(whole) or out.numel() != whole.numel():
            return None
        if before.stride() != out.stride() or not (
            whole.is_contiguous() and is_same_view(before, whole)
        ):
            return LayerRun(self.read, out.reshape(self.written.shape))
        place = whole.size(), whole.stride()
        after = out.as_strided(*place, out.storage_offset())
        each = torch.empty_strided(out.size(), out.stride(), dtype=added.dtype, device=out.device)
        columns = side_by_side(each.copy_(added.expand_as(out)).as_strided(*place), self.n_matrix)
        written = side_by_side(after, self.n_matrix)
        if self.bias is not None or not bool((columns == columns[:1]).all()):
            return LayerRun(self.read, written)
        bias = columns[0].clone()
        return replace(self, written=written, bias=bias, raw=after)


@dataclass(eq=False)
class OpenSoftmax:
    """Weights as a softmax gave them, until a product multiplies values with them.

    `axis` is the axis that sums to 1, the keys; `stack` the modules that ran, outermost first;
    `scores` what it read, if all that was done to q·kᵀ before is known. `over_positions` is False
    if the axis may be the columns of a layer, as those of a classifier are. `fault` is a module and
    the reason why a product with it was not taken.
    """

    kept: Tensor
    axis: int
    sources: tuple[ScoreSource, ...]
    stack: Stack
    scores: TrailedScores | None = None
    over_positions: bool = False
    is_learned: bool = False  # from parameters alone
    fault: tuple[nn.Module, str] | None = None


@dataclass(frozen=True, eq=False)
class Exponentials:
    """exp(scores), and the number of the softmax that they were taken for themselves, if any."""

    sources: tuple[ScoreSource, ...]
    early: int | None


def as_product(
    func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], out: Tensor
) -> MatrixProduct:
    """The operands of a matrix product as stacks of matrices."""
    left, right = args[-2].detach(), args[-1].detach()
    result = out.detach()
    if right.dim() == 1:
        right, result = right[:, None], result[:, None]
    if left.dim() == 2:
        left, right, result = left[None], right[None], result[None]
    factor, beta = float(kwargs.get("alpha", 1)), float(kwargs.get("beta", 1))
    added = args[0].detach() if len(args) > 2 and beta != 0 else None
    return MatrixProduct(left, right, result, added, factor, beta)


def has_one_matrix(matrices: Tensor) -> bool:
    """True if a product multiplies all its rows with the same matrix, as a linear layer does."""
    return bool(
        matrices.shape[0] == 1 or matrices.stride(0) == 0 or (matrices == matrices[:1]).all()
    )


def n_matrix_of_text(product: MatrixProduct) -> int | None:
    """The number of matrices that the rows of each text are multiplied with, as by `x @ w` with a
    matrix for each head; None if these are not the same for all texts, or the rows not for all.
    """
    left, right = product.left, product.right
    if has_one_matrix(right):
        return 1
    if torch.equal(left[0], left[1]):
        for count in (n for n in range(2, len(right) + 1) if len(right) % n == 0):
            rows, matrices = (x.reshape(-1, count, *x.shape[1:]) for x in (left, right))
            if bool((rows == rows[:, :1]).all() and (matrices == matrices[:1]).all()):
                return count
    return None


def side_by_side(result: Tensor, n_matrix: int) -> Tensor:
    """[row, column] of a product's result, what the matrices of a text gave side by side."""
    by_text = result.reshape(-1, n_matrix, *result.shape[1:])
    return by_text.transpose(1, 2).flatten(2).flatten(0, 1)


def layer_run(
    product: MatrixProduct, n_matrix: int, module: nn.Module, *, adds_parameter: bool
) -> LayerRun:
    """A product of each text with the same matrices of parameters as a layer, run in a module."""
    added, factors = product.added, (product.factor, product.beta)
    is_bias = added is None or (added.dim() == 1 and adds_parameter and n_matrix == 1)
    is_known = is_bias and factors == (1.0, 1.0)
    weight = side_by_side(product.right[:n_matrix], n_matrix) if is_known else None
    bias = added if is_known else None
    read, written = product.left[::n_matrix].flatten(0, 1), side_by_side(product.out, n_matrix)
    return LayerRun(read, written, weight, bias, product.out, n_matrix, module)


def convolution(args: tuple[Any, ...], out: Tensor) -> LayerRun:
    """A convolution as a layer over the channels of each place."""
    return LayerRun(args[0].detach().movedim(1, -1), out.detach().movedim(1, -1))


def swapped(product: MatrixProduct) -> MatrixProduct:
    """The same product with its factors transposed: (A·B)ᵀ = Bᵀ·Aᵀ."""
    return MatrixProduct(
        product.right.transpose(-1, -2),
        product.left.transpose(-1, -2),
        product.out.transpose(-1, -2),
        product.added,
        product.factor,
        product.beta,
    )


def tensors_in(values: Any) -> list[Tensor]:
    """The tensors among arguments, one level of lists deep."""
    tensors: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, list | tuple):
            tensors += [part for part in value if isinstance(part, Tensor)]
    return tensors


def padded(texts: object) -> Tensor | None:
    """Texts as a recurrent layer reads or writes them, [text, token, d]; None if it is only one."""
    with _disable_current_modes():
        if isinstance(texts, PackedSequence):
            texts = pad_packed_sequence(texts, batch_first=True)[0]
        return texts.detach() if isinstance(texts, Tensor) and texts.dim() == 3 else None


def common(first: Stack, second: Stack) -> Stack:
    """The modules that ran around both; at least the outermost."""
    n_same = 0
    for left, right in zip(first, second, strict=False):
        if left is not right:
            break
        n_same += 1
    return first[: max(n_same, 1)]


def is_same_view(left: Tensor, right: Tensor) -> bool:
    """True for two views of one place in memory with the same numbers in a row."""
    return (left.data_ptr(), left.numel()) == (right.data_ptr(), right.numel())
