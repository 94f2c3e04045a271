"""Rotary position embeddings, recovered from q and k before and after the rotation.

A rotary embedding rotates pairs of components of q and k by angles that depend on the position only
(Su et al. 2021, equation 34), so that all heads of a token are rotated alike. With each pair read
as a complex number, it is a multiplication by one factor per token and pair, of length 1, or of one
constant length if the model stretches them (YaRN). In: arrays [head, token, d_head] before and
after, or a call and its layers. Out: the pairs of components and the factors, or None if no factors
explain every head. numpy, because it runs in every layer while a model is recorded, on a few
numbers each time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Complex64, Float, Float32
from torch import Tensor

from attnviz.attention.inputs import AttentionInputs, batch_row
from attnviz.attention.projection import Projection
from attnviz.attention.stored_weights import StoredWeights
from attnviz.attention.tolerance import type_tolerance

PairLayout = Literal["halves", "neighbours"]
# the shares of a head's components that models of transformers 5.23 rotate, if not all of them
PARTS = (0.5, 0.25, 0.75, 0.4)
TINY = np.float32(1e-30)
RotatedStage = Literal["q", "k"]


@dataclass(frozen=True)
class Rotation:
    """The first `width` components rotate: i with i + width/2 ("halves"), or with i + 1."""

    pairing: PairLayout
    width: int

    def pairs(self, x: Float32[np.ndarray, "*lead d_head"]) -> Complex64[np.ndarray, "*lead pair"]:
        """The components that rotate, as complex numbers."""
        half, stop = self.width // 2, self.width
        if self.pairing == "halves":
            return x[..., :half] + 1j * x[..., half:stop]
        return x[..., 0:stop:2] + 1j * x[..., 1:stop:2]

    def rotated(
        self,
        x: Float32[np.ndarray, "*lead d_head"],
        factors: Complex64[np.ndarray, "token pair"],
    ) -> Float32[np.ndarray, "*lead d_head"]:
        """x with each pair multiplied by its factor; the other components are unchanged."""
        product, out, half = self.pairs(x) * factors, x.copy(), self.width // 2
        if self.pairing == "halves":
            out[..., :half], out[..., half : self.width] = product.real, product.imag
        else:
            out[..., 0 : self.width : 2], out[..., 1 : self.width : 2] = product.real, product.imag
        return out

    def factors(
        self,
        before: Float32[np.ndarray, "head token d_head"],
        after: Float32[np.ndarray, "head token d_head"],
    ) -> Complex64[np.ndarray, "token pair"]:
        """For each token and pair, the factor that fits all heads best (least squares)."""
        left, right = self.pairs(before), self.pairs(after)
        straight = left.conj()
        sizes = np.maximum((left * straight).real.sum(axis=0), TINY)
        fitted: Complex64[np.ndarray, "token pair"] = (right * straight).sum(axis=0) / sizes
        return fitted


def candidates(d_head: int, likely: Rotation | None = None) -> Iterator[Rotation]:
    """The possible rotations of heads of this width, the likely one first."""
    if likely is not None:
        yield likely
    if d_head % 2 == 0:
        yield Rotation("halves", d_head)
        yield Rotation("neighbours", d_head)  # pairs that do not rotate have factors of 1
    for part in PARTS:
        width = int(part * d_head)
        if width and width % 2 == 0:
            yield Rotation("halves", width)


def find(
    before: Float32[np.ndarray, "head token d_head"],
    after: Float32[np.ndarray, "head token d_head"],
    tolerance: float,
    likely: Rotation | None = None,
) -> Rotation | None:
    """The rotation that leads from `before` to `after` in every head; None if there is none.

    A single head is never enough: any map that keeps lengths would fit it. `tolerance` is relative
    to the largest number.
    """
    if len(before) < 2 or not _keeps_lengths(before, after, tolerance):
        return None
    for rotation in candidates(before.shape[-1], likely):
        if _explains(rotation, before, after, tolerance):
            return rotation
    return None


def _keeps_lengths(before: np.ndarray, after: np.ndarray, tolerance: float) -> bool:
    """True if every head of every token kept its length, or was stretched by one constant.

    What is 0 stays 0: keys of padding that a model zeroes show no stretch.
    """
    lengths, rotated = squares(before), squares(after)
    is_long = lengths > TINY
    if not is_long.any() or rotated[~is_long].any():
        return False
    ratio = rotated[is_long] / lengths[is_long]
    return bool(ratio.max() - ratio.min() <= 4 * tolerance * ratio.max())


def squares(x: Float32[np.ndarray, "*lead d_head"]) -> Float32[np.ndarray, "*lead"]:
    """The squared length of each vector."""
    total: np.ndarray = np.einsum("...d,...d->...", x, x)
    return total


def _explains(rotation: Rotation, before: np.ndarray, after: np.ndarray, tolerance: float) -> bool:
    """True if one factor per token and pair explains every head, all factors of one length."""
    most = tolerance * np.abs(after).max()
    factors = rotation.factors(before, after)
    if not np.abs(rotation.rotated(before, factors) - after).max() <= most:
        return False
    left, right = rotation.pairs(before), rotation.pairs(after)
    stretch = np.linalg.norm(right) / np.maximum(np.linalg.norm(left), TINY)
    even = (np.abs(np.abs(factors) - stretch) * np.abs(left)).max() <= most
    turns = np.abs(right - stretch * left).max() > most  # a constant factor alone is no rotation
    return bool(even and turns)


@runtime_checkable
class CallWithLayers(Protocol):
    """A call with its linear layers: an `AttentionCall`."""

    @property
    def name(self) -> str:
        """The name of the call."""

    @property
    def inputs(self) -> AttentionInputs | StoredWeights:
        """q, k and v, as far as they are known."""

    @property
    def projections(self) -> Mapping[str, Projection]:
        """The layers that were found."""

    @property
    def kept_rows(self) -> slice:
        """The tokens of which the layers keep what they read and wrote."""


@dataclass(frozen=True, eq=False)
class CallRotation:
    """The rotation of one call, with the factors of the kept tokens of q and of k."""

    rotation: Rotation
    factors: dict[RotatedStage, Complex64[np.ndarray, "token pair"]]

    def rotated(
        self, stage: RotatedStage, x: Float[Tensor, "*lead token d_head"]
    ) -> Float[Tensor, "*lead token d_head"]:
        """X·W of one head, or of summands of it, rotated as the model rotates it."""
        rotated = self.rotation.rotated(x.cpu().numpy(), self.factors[stage])
        return torch.from_numpy(rotated).to(x.device)


def rotation_of(call: CallWithLayers, batch: int) -> CallRotation:
    """The rotation of q and k in one batch row; no factors for one that is not rotated."""
    stages: tuple[RotatedStage, ...] = ("q", "k")
    layers = {stage: layer_of(call, stage) for stage in stages}
    sides = {
        stage: _before_and_after(call, batch, stage, layer)
        for stage, layer in layers.items()
        if layer is not None and layer.turned
    }
    # queries and keys of the same tokens rotate alike: all heads together give the best factors
    together = len({before.shape[1] for before, _ in sides.values()}) == 1
    groups = [list(sides)] if together else [[stage] for stage in sides]
    factors: dict[RotatedStage, np.ndarray] = {}
    rotation = Rotation("halves", sides[next(iter(sides))][0].shape[-1])
    for group in groups:
        before, after = (np.concatenate([sides[stage][side] for stage in group]) for side in (0, 1))
        rotation = find(before, after, type_tolerance(call.inputs.dtype)) or rotation
        factors |= dict.fromkeys(group, rotation.factors(before, after))
    return CallRotation(rotation, factors)


def layer_of(call: CallWithLayers, stage: str) -> Projection | None:
    """The layer that computed all tokens of q, k or v; None if some came from a cache."""
    layer = call.projections.get(stage)
    n_token = call.inputs.n_query if stage == "q" else call.inputs.n_key
    n_kept = len(range(n_token)[call.kept_rows])
    return layer if layer is not None and layer.input.shape[1] == n_kept else None


def _before_and_after(
    call: CallWithLayers, batch: int, stage: RotatedStage, layer: Projection
) -> tuple[Float32[np.ndarray, "head token d_head"], Float32[np.ndarray, "head token d_head"]]:
    """Every head before and after the rotation, as the model computed them."""
    inputs = call.inputs
    whole = inputs.query if stage == "q" else inputs.key
    assert whole is not None, "a rotated layer was found beside q and k"
    after = batch_row(whole, batch)[:, call.kept_rows]
    before = layer.heads(batch, after.shape[-1])
    return before.detach().float().cpu().numpy(), after.detach().float().cpu().numpy()
