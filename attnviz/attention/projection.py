"""The linear layers beside an attention call, W_Q, W_K, W_V, W_O, with their input and output.

In: a module's weight and the tensors of one forward pass. Out: a `Projection`: the columns of one
head, and the product x·W + b computed again in float32.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.attention.called_layer import CalledLayer
from attnviz.attention.formula import outside_autocast, product
from attnviz.attention.inputs import batch_row
from attnviz.attention.tolerance import FLOAT32_STEP, longest, rounding
from attnviz.summary import described

ALL_COLUMNS = slice(None)


class _Linear:
    """x·W + b with a weight [d_in, d_out] and a bias that are there."""

    weight: Float[Tensor, "d_in d_out"]
    bias: Float[Tensor, "d_out"] | None

    def apply(
        self, x: Float[Tensor, "*batch token d_in"], columns: slice = ALL_COLUMNS
    ) -> Float[Tensor, "*batch token d_column"]:
        """x·W + b in float32, on the device of x."""
        written = product(x, self.weight[:, columns].to(x.device).float())
        return written if self.bias is None else written + self.bias[columns].to(x.device).float()

    def rows(self, which: slice) -> Float[Tensor, "row d_out"]:
        """These rows of W."""
        return self.weight[which]

    def column_length(self, columns: slice = ALL_COLUMNS) -> float:
        """The length of the longest of some columns of W."""
        return float(self._column_lengths[columns].max(initial=0.0))

    @cached_property
    def _column_lengths(self) -> Float[np.ndarray, "d_out"]:
        dtype = torch.promote_types(self.weight.dtype, torch.float32)
        lengths = torch.linalg.vector_norm(self.weight, dim=0, dtype=dtype)
        return np.asarray(lengths.detach().float().cpu())


@dataclass(frozen=True, eq=False)
class WrittenLayer(_Linear):
    """A linear layer whose weight [d_in, d_out] and bias can be read."""

    weight: Float[Tensor, "d_in d_out"]
    bias: Float[Tensor, "d_out"] | None = None


@dataclass(frozen=True, eq=False)
class BroughtLayer(_Linear):
    """A linear layer whose weight and bias lie elsewhere; `bring` gets them when needed."""

    bring: Callable[[], tuple[Tensor, Tensor | None]]

    @cached_property
    def _brought(self) -> tuple[Tensor, Tensor | None]:
        return self.bring()

    @property
    def weight(self) -> Float[Tensor, "d_in d_out"]:  # type: ignore[override]  # read only
        """W."""
        return self._brought[0]

    @property
    def bias(self) -> Float[Tensor, "d_out"] | None:  # type: ignore[override]
        """b; None without one."""
        return self._brought[1]


class ParameterProduct(BroughtLayer):
    """A product with a parameter and its bias, which no layer of the model makes.

    The matrix is put together each time, and not kept beside the parameter.
    """

    @property
    def _brought(self) -> tuple[Tensor, Tensor | None]:
        return self.bring()


@dataclass(frozen=True, eq=False)
class SomeColumns:
    """The columns `parts` of a layer side by side, read or computed when needed."""

    layer: WrittenLayer | BroughtLayer | CalledLayer
    parts: tuple[slice, ...]

    @property
    def weight(self) -> Float[Tensor, "d_in d_part"]:
        """These columns of W."""
        whole = self.layer.weight
        with outside_autocast(whole):
            return torch.cat([whole[:, part] for part in self.parts], dim=1)

    @property
    def bias(self) -> Float[Tensor, " d_part"] | None:
        """These entries of b; None without one."""
        whole = self.layer.bias
        if whole is None:
            return None
        with outside_autocast(whole):
            return torch.cat([whole[part] for part in self.parts])

    def apply(
        self, x: Float[Tensor, "*batch token d_in"], columns: slice = ALL_COLUMNS
    ) -> Float[Tensor, "*batch token d_column"]:
        """x·W + b in float32, on the device of x, for some of these columns or for all."""
        return torch.cat([self.layer.apply(x, part) for part in self._of_layer(columns)], dim=-1)

    def rows(self, which: slice) -> Float[Tensor, "row d_part"]:
        """These rows of the columns of W."""
        return self.weight[which]

    def column_length(self, columns: slice = ALL_COLUMNS) -> float:
        """The length of the longest of some of these columns."""
        return max(self.layer.column_length(part) for part in self._of_layer(columns))

    def _of_layer(self, columns: slice) -> Iterator[slice]:
        """Where some of these columns stand in the layer."""
        first, last, _ = columns.indices(sum(part.stop - part.start for part in self.parts))
        place = 0
        for part in self.parts:
            width = part.stop - part.start
            start, stop = max(first - place, 0), min(last - place, width)
            if start < stop:
                yield slice(part.start + start, part.start + stop)
            place += width


@dataclass(frozen=True, eq=False)
class Projection:
    """A linear layer next to an attention call: W_Q, W_K, W_V or W_O.

    `module` is its dotted name, `layer` its W and b, read or found by calling it, so that
    `input @ weight + bias` is `output`. `starts` gives, for each head, the first of its d_head
    columns of `output` (W_Q, W_K, W_V) or of `input` (W_O). `turned` is True if a rotary embedding
    turned the output before its use; `factor` is the constant by which the model multiplied it, the
    same for all heads and tokens (1 if it was turned). `only` has the numbers of the heads whose
    columns are kept, if not all are; then the layer and `starts` are those of these.
    """

    module: str
    layer: WrittenLayer | BroughtLayer | CalledLayer | SomeColumns
    input: Float[Tensor, "batch token d_in"]
    output: Float[Tensor, "batch token d_out"]
    starts: tuple[int, ...]
    turned: bool = False
    factor: float = 1.0
    only: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return described(self, "module", "weight", "bias", "turned", "factor")

    @property
    def weight(self) -> Float[Tensor, "d_in d_out"]:
        """W; of a layer that has to be called, `rows` gives a part of it."""
        return self.layer.weight

    @property
    def bias(self) -> Float[Tensor, "d_out"] | None:
        """b; None without one."""
        return self.layer.bias

    def rows(self, head: int, width: int) -> Float[Tensor, "d_value d_out"]:
        """The `width` rows of W_O that belong to one head."""
        return self.layer.rows(self.columns(head, width))

    def heads(self, batch: int, d_head: int) -> Float[Tensor, "head token d_head"]:
        """The output of one batch row, kept head by kept head."""
        output = batch_row(self.output, batch)
        with outside_autocast(output):
            return torch.stack([output[:, start : start + d_head] for start in self.starts])

    def with_tensors(
        self, read: Float[Tensor, "batch token d_in"], wrote: Float[Tensor, "batch token d_out"]
    ) -> "Projection":
        """The same layer with copies of what it read and wrote."""
        return Projection(
            self.module, self.layer, read, wrote, self.starts, self.turned, self.factor, self.only
        )

    def with_heads(self, heads: Sequence[int], width: int) -> "Projection":
        """The columns of some heads of W_Q, W_K or W_V, copied so that the others can be freed."""
        firsts = tuple(dict.fromkeys(self.starts[head] for head in heads))  # heads may share them
        parts = tuple(slice(first, first + width) for first in firsts)
        return replace(
            self,
            layer=SomeColumns(self.whole_layer, parts),
            output=torch.cat([self.output[..., part] for part in parts], dim=-1),
            starts=tuple(firsts.index(self.starts[head]) * width for head in heads),
            only=tuple(heads),
        )

    def without_tensors(self) -> "Projection":
        """The layer alone: no token of what it read and wrote."""
        return replace(self, input=self.input[:, :0].clone(), output=self.output[:, :0].clone())

    @property
    def whole_layer(self) -> WrittenLayer | BroughtLayer | CalledLayer:
        """The layer with all of its columns."""
        return self.layer.layer if isinstance(self.layer, SomeColumns) else self.layer

    def thinned(self, row_step: int) -> "Projection":
        """Every n-th token, copied so that the rest is freed."""
        rows = slice(None, None, row_step)
        return replace(self, input=self.input[:, rows].clone(), output=self.output[:, rows].clone())

    def columns(self, head: int, width: int) -> slice:
        """The `width` columns that belong to one head."""
        start = self.starts[head if self.only is None else self.only.index(head)]
        return slice(start, start + width)

    def tolerance(self, columns: slice = ALL_COLUMNS) -> float:
        """The largest |x·W + b − output| that rounding explains, at the size of these columns."""
        (tolerance,) = self.tolerances([columns])
        return tolerance

    def tolerances(
        self, parts: Sequence[slice], roundings: int = 1, read_as: torch.dtype | None = None
    ) -> list[float]:
        """`tolerance` of several parts of the columns.

        `roundings` counts how often the model rounded these numbers to its type; `read_as` is the
        type in which its attention read them, which may be a coarser one.
        """
        # under autocast a layer rounds what it reads to the type in which it writes
        dtype = self.output.dtype
        whole = self.whole_layer
        if isinstance(whole, CalledLayer):
            dtype = max(dtype, whole.coarsest, key=lambda other: torch.finfo(other).eps)
        is_rounded = torch.finfo(dtype).eps > torch.finfo(self.input.dtype).eps
        step = torch.finfo(dtype).eps if is_rounded else FLOAT32_STEP
        if read_as is not None and read_as.is_floating_point:
            dtype = max(dtype, read_as, key=lambda other: torch.finfo(other).eps)
        factor, sizes = abs(self.factor), roundings * self._column_sizes
        return [
            factor
            * rounding(
                dtype,
                float(sizes[columns].max(initial=0.0)),
                self._longest_input * self.layer.column_length(columns),
                step,
            )
            for columns in parts
        ]

    @cached_property
    def _longest_input(self) -> float:
        return longest(self.input)

    @cached_property
    def _column_sizes(self) -> Float[np.ndarray, "d_out"]:
        """The largest |output| of each column."""
        if not self.output.numel():
            return np.zeros(self.output.shape[-1], np.float32)
        least, most = torch.aminmax(self.output.flatten(0, -2), dim=0)
        return np.asarray(torch.maximum(-least, most).detach().float().cpu())


def apply_linear(
    x: Float[Tensor, "*batch token d_in"], layer: Projection, columns: slice = ALL_COLUMNS
) -> Float[Tensor, "*batch token d_column"]:
    """x·W + b in float32, on the device of x, for some columns of the output or for all."""
    return layer.layer.apply(x, columns)
