"""The operations that attention consists of, as torch runs them below Python.

In: an operation with its arguments. Out: its operands under their own names: a `MatrixProduct`
always as [rows, row, inner] times [rows, inner, column], whatever the operation was called.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

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
ADD = aten.add.Tensor
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
    `bias` are known of a product that nothing else was added to.
    """

    read: Tensor
    written: Tensor
    weight: Tensor | None = None
    bias: Tensor | None = None

    def plus(self, bias: Tensor, written: Tensor) -> "LayerRun":
        """The layer with a parameter that was added to what it wrote."""
        is_bias = bias.dim() == 1 and self.bias is None
        weight = self.weight if is_bias else None
        return LayerRun(self.read, written, weight, bias.detach() if is_bias else None)


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


def layer_run(product: MatrixProduct, *, adds_parameter: bool) -> LayerRun:
    """A product with one matrix of parameters as a layer."""
    added, factors = product.added, (product.factor, product.beta)
    is_bias = added is None or (added.dim() == 1 and adds_parameter)
    weight = product.right[0] if is_bias and factors == (1.0, 1.0) else None
    bias = None if weight is None else added
    return LayerRun(product.left.flatten(0, 1), product.out.flatten(0, 1), weight, bias)


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
