"""The embedded `mha-55`, taken apart: its X, its packed weights, and what each head makes of them.

In: the capture of the module, which holds X, W_Q, W_K, W_V, W_O and its own output. Out: `Opened`,
in float64 for panels; what is compared with torch is computed in float32, as torch does. Source:
torch's `multi_head_attention_forward`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.course.arrays import Matrix, as_numbers
from attnviz.course.recipe import Ask

Way = Literal["slices", "every_other", "reshape"]
KINDS: tuple[Literal["q", "k", "v"], ...] = ("q", "k", "v")


@dataclass(frozen=True, eq=False)
class Opened:
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
    def x(self) -> Matrix:
        """The rows that went in."""
        return as_numbers(self._x)

    @property
    def packed(self) -> Matrix:
        """[W_Q | W_K | W_V], the transpose of in_proj_weight: what X is multiplied with."""
        return as_numbers(self._packed)

    @property
    def qkv(self) -> Matrix:
        """X·[W_Q | W_K | W_V]."""
        return as_numbers(self._x @ self._packed)

    @property
    def w_o(self) -> Matrix:
        return as_numbers(self.call.projections["out"].weight)

    @property
    def concat(self) -> Matrix:
        """The heads' outputs side by side."""
        return as_numbers(self.call.output[0].flatten(1))

    @property
    def torch_weights(self) -> Float64[np.ndarray, "head query key"]:
        """The weights of every head, as the module's own q and k give them."""
        return self.call.weights().double().numpy()

    @property
    def torch_output(self) -> Matrix:
        """What the module returned."""
        return as_numbers(self.call.projections["out"].output[0])

    def weight(self, kind: Literal["q", "k", "v"], head: int) -> Matrix:
        """The small matrix of one head: W_Q, W_K or W_V of the paper."""
        layer = self.call.projections[kind]
        return as_numbers(layer.weight[:, layer.columns(head, self.d_head)])

    def cells(self, kind: int, head: int) -> frozenset[tuple[int, int]]:
        """The cells of `qkv` that are one slice."""
        first = (kind * self.n_heads + head) * self.d_head
        return frozenset(
            (row, first + column) for row in range(len(self._x)) for column in range(self.d_head)
        )

    def weights(self, way: str) -> Float64[np.ndarray, "head query key"]:
        """The weights of every head where the product is cut into heads in this way."""
        return self._attended(way)[0].double().numpy()

    def output(self, way: str) -> Matrix:
        """The output where the product is cut into heads in this way."""
        return as_numbers(self._attended(way)[1])

    @property
    def paper_weights(self) -> Float64[np.ndarray, "head query key"]:
        """The weights of every head from small matrices of its own, as in the paper."""
        layers = [self.call.projections[kind] for kind in ("q", "k")]
        made = []
        for head in range(self.n_heads):
            q, k = (self._x @ of.weight[:, of.columns(head, self.d_head)] for of in layers)
            made.append(formula.weights(formula.scaled(formula.scores(q, k), self.d_head**-0.5)))
        every: np.ndarray = torch.stack(made).double().numpy()
        return every

    def share(self, head: int) -> Matrix:
        """head_i·W_O[i]: what one head adds to the output."""
        columns = slice(head * self.d_head, (head + 1) * self.d_head)
        return np.asarray(self.concat[:, columns] @ self.w_o[columns])

    @property
    def _x(self) -> Tensor:
        return self.call.projections["q"].input[0]

    @property
    def _packed(self) -> Tensor:
        return torch.cat([self.call.projections[kind].weight for kind in KINDS], dim=1)

    def with_factor(self, head: int, factor: float) -> Matrix:
        """The output where one head's columns of Concat are multiplied before W_O."""
        concat = self.concat
        concat[:, head * self.d_head : (head + 1) * self.d_head] *= factor
        return np.asarray(concat @ self.w_o)

    def _attended(self, way: str) -> tuple[Tensor, Tensor]:
        """(weights, output) of the product cut in this way, in float32."""
        q, k, v = (
            _cut(part, way, self.n_heads) for part in (self._x @ self._packed).chunk(3, dim=1)
        )
        weights = formula.weights(formula.scaled(formula.scores(q, k), self.d_head**-0.5))
        concat = formula.mixed(weights, v).transpose(0, 1).flatten(1)
        return weights, concat @ self.call.projections["out"].weight


def opened(ask: Ask) -> Opened:
    """The embedded module, captured on its own X."""
    return Opened(ask.capture("mha-55").calls[0])


def _cut(part: Tensor, way: str, n_heads: int) -> Tensor:
    """[row, d_model] as [head, row, d_head]; all ways but "slices" are mistakes."""
    rows, d_model = part.shape
    d_head = d_model // n_heads
    if way == "reshape":
        return part.reshape(n_heads, rows, d_head)  # the numbers of a row land in other rows
    if way == "every_other":
        return part.reshape(rows, d_head, n_heads).permute(2, 0, 1)
    return part.reshape(rows, n_heads, d_head).transpose(0, 1)
