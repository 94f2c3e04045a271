"""The result of each attention implementation for a query whose keys are all masked.

In: the number of keys. Out: the row that each implementation returns, computed with random q, k and
v from a seed. A softmax over nothing is 0 ÷ 0; what to return instead is a choice, and torch and
transformers chose differently.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers.models.bert.modeling_bert import eager_attention_forward

from attnviz.models.seeded_models import seeded

Implementation = Literal[
    "multihead_weights", "multihead_fast", "multihead_grad", "sdpa", "transformers"
]
IMPLEMENTATIONS: tuple[Implementation, ...] = get_args(Implementation)
GIVE_WEIGHTS = ("multihead_weights", "transformers")
WIDTH = 4
N_HEADS = 2  # torch has a fast path for an even number of heads only
SEED = 7
ATTENTION_MASK = 0  # torch's number for a mask [query, key]


@dataclass(frozen=True, eq=False)
class BlockedRow:
    """One implementation's row for the blocked query: its attention weights, else its output."""

    implementation: Implementation
    gives: Literal["weights", "output"]
    values: Float32[np.ndarray, " value"]

    @property
    def verdict(self) -> Literal["nan", "zero", "uniform", "finite"]:
        """The kind of the numbers: NaN, all 0, all equal, or any other."""
        values = self.values
        if np.isnan(values).any():
            return "nan"
        if not values.any():
            return "zero"
        return "uniform" if self.gives == "weights" and np.ptp(values) < 1e-6 else "finite"


def blocked_rows(n_key: int = 4) -> tuple[BlockedRow, ...]:
    """The row of a query without keys, one for each implementation."""
    draws = torch.Generator().manual_seed(SEED)
    x = torch.randn(1, n_key, WIDTH, generator=draws)
    may_attend = torch.ones(n_key, n_key, dtype=torch.bool)
    may_attend[0] = False
    return tuple(
        BlockedRow(
            name,
            "weights" if name in GIVE_WEIGHTS else "output",
            RUN[name](x, may_attend).detach().numpy().astype(np.float32),
        )
        for name in IMPLEMENTATIONS
    )


def _multihead() -> nn.MultiheadAttention:
    with seeded(SEED):
        return nn.MultiheadAttention(WIDTH, N_HEADS, batch_first=True).eval()


def _multihead_weights(x: Tensor, may_attend: Tensor) -> Tensor:
    _, weights = _fast(x, may_attend, need_weights=True)
    assert weights is not None, "they were asked for"
    return weights[0, 0]


def _multihead_fast(x: Tensor, may_attend: Tensor) -> Tensor:
    return _fast(x, may_attend, need_weights=False)[0][0, 0]


def _fast(x: Tensor, may_attend: Tensor, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
    """The output and the weights of the fast path that `nn.MultiheadAttention` takes in inference.

    It is called directly: its switch belongs to the process, and other threads turn it off.
    """
    module = _multihead()
    with torch.no_grad():
        result: tuple[Tensor, Tensor | None] = torch._native_multi_head_attention(
            x,
            x,
            x,
            WIDTH,
            N_HEADS,
            module.in_proj_weight,
            module.in_proj_bias,
            module.out_proj.weight,
            module.out_proj.bias,
            ~may_attend,
            need_weights,
            True,  # the mean of the heads' weights
            ATTENTION_MASK,
        )
    return result


def _multihead_grad(x: Tensor, may_attend: Tensor) -> Tensor:
    with torch.enable_grad():  # with gradients there is no fast path
        result: tuple[Tensor, None] = _multihead()(
            x, x, x, attn_mask=~may_attend, need_weights=False
        )
    return result[0][0, 0]


def _sdpa(x: Tensor, may_attend: Tensor) -> Tensor:
    return scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], may_attend)[0, 0, 0]


def _transformers(x: Tensor, may_attend: Tensor) -> Tensor:
    lowest = torch.finfo(x.dtype).min
    mask = torch.zeros(may_attend.shape).masked_fill(~may_attend, lowest)[None, None]
    states = x[:, None]
    result: tuple[Tensor, Tensor] = eager_attention_forward(
        nn.Module().eval(), states, states, states, mask, scaling=WIDTH**-0.5
    )
    return result[1][0, 0, 0]


RUN: dict[Implementation, Callable[[Tensor, Tensor], Tensor]] = {
    "multihead_weights": _multihead_weights,
    "multihead_fast": _multihead_fast,
    "multihead_grad": _multihead_grad,
    "sdpa": _sdpa,
    "transformers": _transformers,
}
