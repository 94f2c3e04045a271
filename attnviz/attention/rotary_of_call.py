"""The rotary rotation of one call's q and k, recovered from all of their tokens.

In: a call whose projections are marked as turned. Out: the rotation and its factors, one for each
token and pair of components, shared by all heads. They lead from X·W_Q to q, which `steps` checks.
The model's own cosines are not needed: its tensors before and after the rotation give them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Complex64, Float, Float32
from torch import Tensor

from attnviz.attention import rotary
from attnviz.attention.inputs import AttentionInputs, batch_row
from attnviz.attention.projection import Projection
from attnviz.attention.rotary import Rotation
from attnviz.attention.stored_weights import StoredWeights
from attnviz.attention.tolerance import type_tolerance

RotatedStage = Literal["q", "k"]


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
        rotation = rotary.find(before, after, type_tolerance(call.inputs.dtype)) or rotation
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
