"""The embedded `mha-55` in parts: its X, its packed weights, and the output of each head.

In: the capture of the module, which holds X, W_Q, W_K, W_V, W_O and its own output. Out:
`ModuleParts`, in float64 for panels, and the same product cut into heads in three ways; numbers to
compare with torch's are computed in float32, as torch does. Source: torch's
`multi_head_attention_forward`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.teach.course.arrays import Matrix, as_numbers
from attnviz.teach.course.recipe import CardInputs

WeightKind = Literal["q", "k", "v"]
KINDS: tuple[WeightKind, ...] = ("q", "k", "v")


@dataclass(frozen=True, eq=False)
class ModuleParts:
    """One call of a `nn.MultiheadAttention` without bias, in parts."""

    call: AttentionCall

    @property
    def n_heads(self) -> int:
        return self.call.n_heads

    @property
    def d_head(self) -> int:
        width = self.call.inputs.d_head
        assert width is not None, "the module's queries are recorded"
        return width

    @property
    def x_tensor(self) -> Tensor:
        """The input rows in float32."""
        return self.call.projections["q"].input[0]

    @property
    def packed_tensor(self) -> Tensor:
        """[W_Q | W_K | W_V] in float32."""
        return torch.cat([self.call.projections[kind].weight for kind in KINDS], dim=1)

    @property
    def x(self) -> Matrix:
        """The input rows."""
        return as_numbers(self.x_tensor)

    @property
    def packed(self) -> Matrix:
        """[W_Q | W_K | W_V], the transpose of in_proj_weight, by which X is multiplied."""
        return as_numbers(self.packed_tensor)

    @property
    def qkv(self) -> Matrix:
        """X·[W_Q | W_K | W_V]."""
        return as_numbers(self.x_tensor @ self.packed_tensor)

    @property
    def w_o(self) -> Matrix:
        return as_numbers(self.call.projections["out"].weight)

    @property
    def concat(self) -> Matrix:
        """The heads' outputs side by side."""
        return as_numbers(self.call.output[0].flatten(1))

    @property
    def torch_weights(self) -> Float64[np.ndarray, "head query key"]:
        """The weights of every head, from the module's own q and k."""
        return self.call.weights().double().numpy()

    @property
    def torch_output(self) -> Matrix:
        """The output of the module."""
        return as_numbers(self.call.projections["out"].output[0])

    def weight(self, kind: WeightKind, head: int) -> Matrix:
        """The small matrix of one head: W_Q, W_K or W_V of the paper."""
        layer = self.call.projections[kind]
        return as_numbers(layer.weight[:, layer.columns(head, self.d_head)])


def module_parts(inputs: CardInputs) -> ModuleParts:
    """The embedded module, captured on its own X."""
    return ModuleParts(inputs.capture("mha-55").calls[0])


# --- slices of the packed product ----------------------------------------------------------------


def slice_cells(parts: ModuleParts, kind: int, head: int) -> frozenset[tuple[int, int]]:
    """The cells of `qkv` that are the q, k or v (kind 0, 1 or 2) of one head."""
    first = (kind * parts.n_heads + head) * parts.d_head
    return frozenset(
        (row, first + column) for row in range(len(parts.x)) for column in range(parts.d_head)
    )


def cut_weights(parts: ModuleParts, way: str) -> Float64[np.ndarray, "head query key"]:
    """The weights of every head if the product is cut into heads in this way."""
    return _attention_of_cut(parts, way)[0].double().numpy()


def cut_output(parts: ModuleParts, way: str) -> Matrix:
    """The output if the product is cut into heads in this way."""
    return as_numbers(_attention_of_cut(parts, way)[1])


def paper_weights(parts: ModuleParts) -> Float64[np.ndarray, "head query key"]:
    """The weights of every head from its own small matrices, as in the paper."""
    layers = [parts.call.projections[kind] for kind in ("q", "k")]
    weights = []
    for head in range(parts.n_heads):
        q, k = (
            parts.x_tensor @ layer.weight[:, layer.columns(head, parts.d_head)] for layer in layers
        )
        weights.append(formula.weights(formula.scaled(formula.scores(q, k), parts.d_head**-0.5)))
    all_heads: np.ndarray = torch.stack(weights).double().numpy()
    return all_heads


def _attention_of_cut(parts: ModuleParts, way: str) -> tuple[Tensor, Tensor]:
    """(weights, output) of the product cut in this way, in float32."""
    product = parts.x_tensor @ parts.packed_tensor
    q, k, v = (cut_product(third, way, parts.n_heads) for third in product.chunk(3, dim=1))
    weights = formula.weights(formula.scaled(formula.scores(q, k), parts.d_head**-0.5))
    concat = formula.mixed(weights, v).transpose(0, 1).flatten(1)
    return weights, concat @ parts.call.projections["out"].weight


def cut_product(product: Tensor, way: str, n_heads: int) -> Tensor:
    """[row, d_model] as [head, row, d_head]; all ways but "slices" are mistakes."""
    rows, d_model = product.shape
    d_head = d_model // n_heads
    if way == "reshape":
        return product.reshape(n_heads, rows, d_head)  # the numbers of a row land in other rows
    if way == "every_other":
        return product.reshape(rows, d_head, n_heads).permute(2, 0, 1)
    return product.reshape(rows, n_heads, d_head).transpose(0, 1)


# --- heads in the output -------------------------------------------------------------------------


def head_share(parts: ModuleParts, head: int) -> Matrix:
    """head_i·W_O[i]: the part of the output that comes from one head."""
    columns = slice(head * parts.d_head, (head + 1) * parts.d_head)
    return np.asarray(parts.concat[:, columns] @ parts.w_o[columns])


def scaled_head_output(parts: ModuleParts, head: int, factor: float) -> Matrix:
    """The output if one head's columns of Concat are multiplied by a factor before W_O."""
    concat = parts.concat
    concat[:, head * parts.d_head : (head + 1) * parts.d_head] *= factor
    return np.asarray(concat @ parts.w_o)
