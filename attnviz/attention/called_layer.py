"""A linear map that only calling its module shows: adapters, packed or offloaded weights.

In: the module that an attention block calls, and rows that it read and wrote. Out: x·W + b,
computed by the module itself, and rows of W, which are what unit vectors become. Libraries' own
ways to unpack a weight are not trusted: some are wrong for a weight that was arranged for a kernel.
`why_not_affine` says whether W and b exist at all: sums of rows that the model really read must
become the same sums of what it wrote.
"""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attnviz.attention.formula import autocast_type, product
from attnviz.attention.tolerance import largest, longest, rounding
from attnviz.errors import UnsupportedAttention

ALL_COLUMNS = slice(None)
N_SUMS = 4  # sums of rows that are put through a module
N_ROWS = 8  # rows in each sum
N_UNITS = 512  # unit vectors at once
N_PROBES = 32  # random rows that tell the length of W's columns
LENGTH_MARGIN = 1.3
NOT_AFFINE = (
    "this layer ({kind}) is no input·W + b: what it writes for a sum of rows is off by {error:.2g}"
    " of {size:.2g}, as of a layer that rounds what it reads"
)
FAILS = "this layer ({kind}) cannot be called on rows of its own: {error}"


@dataclass(frozen=True, eq=False)
class CalledLayer:
    """A module that is called again; `n_in`, `dtype` and `device` are those of what it read.

    `autocast` is the type of the torch.autocast that it ran in, in which it is called too.
    """

    module: nn.Module
    n_in: int
    dtype: torch.dtype
    device: torch.device
    autocast: torch.dtype | None = None

    @classmethod
    def as_it_runs(cls, module: nn.Module, read: Tensor) -> "CalledLayer":
        """A module that just read a tensor, under the autocast of now."""
        autocast = autocast_type(read.device)
        return cls(module, read.shape[-1], read.dtype, read.device, autocast)

    def apply(
        self, x: Float[Tensor, "*batch token d_in"], columns: slice = ALL_COLUMNS
    ) -> Float[Tensor, "*batch token d_column"]:
        """x·W + b in float32, on the device of x."""
        written = self._written(x.reshape(-1, self.n_in)).reshape(*x.shape[:-1], -1)
        return written[..., columns].to(x.device)

    def rows(self, which: slice) -> Float[Tensor, "row d_out"]:
        """These rows of W."""
        start, stop, _ = which.indices(self.n_in)
        units = torch.zeros(stop - start, self.n_in, dtype=torch.float32)
        units[torch.arange(stop - start), torch.arange(start, stop)] = 1
        return self._written(units) - self._offset

    @cached_property
    def weight(self) -> Float[Tensor, "d_in d_out"]:
        """The whole of W."""
        starts = range(0, self.n_in, N_UNITS)
        return torch.cat([self.rows(slice(start, start + N_UNITS)) for start in starts])

    @property
    def bias(self) -> Float[Tensor, "d_out"] | None:
        """The row that zeros become; None if that is zeros."""
        return self._offset if bool(self._offset.any()) else None

    def column_length(self, columns: slice = ALL_COLUMNS) -> float:
        """About the length of the longest of some columns of W."""
        return float(self._lengths[columns].amax())

    @cached_property
    def coarsest(self) -> torch.dtype:
        """The coarsest type of which a part of the module writes nothing but numbers.

        A kernel of bfloat16 may hand out its results as float32.
        """
        types = {self.dtype}
        with _watched(self.module, types):
            self._written(self._probes)
        return max(types, key=lambda dtype: torch.finfo(dtype).eps)

    def why_not_affine(
        self, read: Float[Tensor, "row d_in"], wrote: Float[Tensor, "row d_out"]
    ) -> str | None:
        """None if the module is an affine map that made `wrote` of `read`; else the reason."""
        kind = type(self.module).__name__
        some = slice(None, None, max(1, math.ceil(len(read) / N_ROWS)))
        x, y = read[some].float(), wrote[some].float()
        generator = torch.Generator().manual_seed(1)
        shares = torch.randn(N_SUMS, len(x), generator=generator, dtype=x.dtype).to(x.device)
        shares = shares / shares.abs().sum(1, keepdim=True)  # no larger than what was read
        sums = product(shares, x).to(self.dtype).float()
        try:
            ours, again, zero = self.apply(sums), self.apply(x[:1]), self._offset.to(y.device)
            coarsest, length = self.coarsest, self.column_length()
        except Exception as failure:  # whatever a foreign kernel raises or returns
            return FAILS.format(kind=kind, error=_first_words(failure.__cause__ or failure))
        size = largest(y)
        allowed = rounding(coarsest, 3 * size, longest(x) * length)  # rows, results, their sum
        differences = (ours - (product(shares, y - zero) + zero), again - y[:1])
        error = max(float(difference.abs().max()) for difference in differences)
        if error <= allowed:
            return None
        return NOT_AFFINE.format(kind=kind, error=error, size=size)

    @property
    def _probes(self) -> Tensor:
        generator = torch.Generator().manual_seed(0)
        return torch.randn(N_PROBES, self.n_in, generator=generator, dtype=torch.float32)

    @cached_property
    def _offset(self) -> Tensor:
        return self._written(torch.zeros(1, self.n_in, dtype=torch.float32))[0]

    @cached_property
    def _lengths(self) -> Tensor:
        probed = self._written(self._probes) - self._offset
        return LENGTH_MARGIN * probed.square().mean(0).sqrt()

    def _as_it_ran(self) -> AbstractContextManager[object]:
        """The autocast of then, and no other, on a device that has it."""
        kind = self.device.type
        if not torch.amp.is_autocast_available(kind):
            return nullcontext()
        return torch.autocast(kind, self.autocast, enabled=self.autocast is not None)

    def _written(self, rows: Float[Tensor, "row d_in"]) -> Float[Tensor, "row d_out"]:
        try:
            with torch.no_grad(), self._as_it_ran():
                written: Tensor = self.module(rows.to(self.device, self.dtype)[None])
        except Exception as failure:  # whatever a foreign kernel raises
            name = type(self.module).__name__
            raise UnsupportedAttention(
                f"a layer ({name}) that is read by calling it cannot be called as it ran any more"
                f" ({_first_words(failure)}): was it changed since? Look at its steps"
                " before you change the model",
                code="overwritten",
            ) from failure
        return written[0].float()


def _first_words(failure: BaseException) -> str:
    return str(failure).split("\n")[0][:80]


@contextmanager
def _watched(module: nn.Module, types: set[torch.dtype]) -> Iterator[None]:
    """Collect the types coarser than float32 in which a module and its parts write."""

    def look(_module: nn.Module, _args: object, wrote: object) -> None:
        if not isinstance(wrote, Tensor) or not wrote.is_floating_point() or not bool(wrote.any()):
            return
        if wrote.dtype != torch.float32:
            types.add(wrote.dtype)
            return
        for smaller in (torch.bfloat16, torch.float16):
            if torch.equal(wrote, wrote.to(smaller).float()):
                types.add(smaller)

    handles = [part.register_forward_hook(look) for part in module.modules()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
