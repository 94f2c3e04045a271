"""How a rotary embedding turned the q and k of one call, worked out from all of their tokens.

In: a call whose projections are marked as turned. Out: the rotation and its factors, one for each
token and pair of components, shared by all heads. With them X·W_Q becomes q, and `steps` shows that
it does. The model's own cosines are not needed: its tensors before and after give them.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Complex64, Float, Float32
from torch import Tensor

from attnviz.attention import rotary
from attnviz.attention.call import AttentionCall, type_tolerance
from attnviz.attention.inputs import of_row
from attnviz.attention.projection import Projection
from attnviz.attention.rotary import Rotation

Turned = Literal["q", "k"]


@dataclass(frozen=True, eq=False)
class Turning:
    """The rotation of one call, with the factors of the kept tokens of q and of k."""

    rotation: Rotation
    factors: dict[Turned, Complex64[np.ndarray, "token pair"]]

    def turned(
        self, name: Turned, x: Float[Tensor, "token d_head"]
    ) -> Float[Tensor, "token d_head"]:
        """One head's X·W as the model uses it."""
        made = self.rotation.turned(x.cpu().numpy(), self.factors[name])
        return torch.from_numpy(made).to(x.device)


def of_call(call: AttentionCall, batch: int) -> Turning:
    """The turning of q and k; those that were not turned have no factors."""
    names: tuple[Turned, ...] = ("q", "k")
    layers = {name: layer_of(call, name) for name in names}
    sides = {
        name: _sides(call, batch, name, layer)
        for name, layer in layers.items()
        if layer is not None and layer.turned
    }
    # queries and keys of the same tokens turn alike: all heads together tell the factors best
    together = len({before.shape[1] for before, _ in sides.values()}) == 1
    groups = [list(sides)] if together else [[name] for name in sides]
    factors: dict[Turned, np.ndarray] = {}
    found = Rotation("halves", sides[next(iter(sides))][0].shape[-1])
    for group in groups:
        before, after = (np.concatenate([sides[of][side] for of in group]) for side in (0, 1))
        found = rotary.find(before, after, type_tolerance(call.inputs.dtype)) or found
        shared = found.factors(before, after)
        factors |= dict.fromkeys(group, shared)
    return Turning(found, factors)


def layer_of(call: AttentionCall, name: str) -> Projection | None:
    """The layer that made all tokens of q, k or v; None also where others came from a cache."""
    layer = call.projections.get(name)
    n_token = call.n_query if name == "q" else call.n_key
    kept = len(range(n_token)[call.rows])
    return layer if layer is not None and layer.input.shape[1] == kept else None


def _sides(
    call: AttentionCall, batch: int, name: Turned, layer: Projection
) -> tuple[Float32[np.ndarray, "head token d_head"], Float32[np.ndarray, "head token d_head"]]:
    """Every head before and after, as the model made them."""
    inputs = call.inputs
    whole = inputs.query if name == "q" else inputs.key
    assert whole is not None, "a turned layer was found beside q and k"
    after = of_row(whole, batch)[:, call.rows]
    before = layer.heads(batch, after.shape[-1])
    return before.float().cpu().numpy(), after.float().cpu().numpy()
