"""What becomes of a query that may attend to nothing: every interface answers differently.

In: how many keys there are. Out: the row that each interface really gives, computed here and now
with random q, k and v from a seed. A softmax over nothing is 0 ÷ 0; what is made of that is a
choice, and torch and transformers chose differently.
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

Fate = Literal["multihead_weights", "multihead_fast", "multihead_grad", "sdpa", "transformers"]
FATES: tuple[Fate, ...] = get_args(Fate)
WIDTH = 4
SEED = 7


@dataclass(frozen=True, eq=False)
class DeadRow:
    """What one interface gives for the blocked row: its attention weights, else its output."""

    fate: Fate
    gives: Literal["weights", "output"]
    values: Float32[np.ndarray, " value"]

    @property
    def verdict(self) -> Literal["nan", "zero", "uniform", "finite"]:
        """What the numbers amount to."""
        values = self.values
        if np.isnan(values).any():
            return "nan"
        if not values.any():
            return "zero"
        return "uniform" if self.gives == "weights" and np.ptp(values) < 1e-6 else "finite"


def dead_rows(n_key: int = 4) -> tuple[DeadRow, ...]:
    """The fates of a row without keys, one per interface."""
    draws = torch.Generator().manual_seed(SEED)
    x = torch.randn(1, n_key, WIDTH, generator=draws)
    may_attend = torch.ones(n_key, n_key, dtype=torch.bool)
    may_attend[0] = False
    return tuple(
        DeadRow(
            fate,
            "weights" if fate in ("multihead_weights", "transformers") else "output",
            RUN[fate](x, may_attend).detach().numpy().astype(np.float32),
        )
        for fate in FATES
    )


def _multihead(x: Tensor) -> nn.MultiheadAttention:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        # torch takes its fast path only with an even number of heads
        return nn.MultiheadAttention(x.shape[-1], 2, batch_first=True).eval()


def _with_weights(x: Tensor, may_attend: Tensor) -> Tensor:
    with torch.no_grad():
        found: tuple[Tensor, Tensor] = _multihead(x)(x, x, x, attn_mask=~may_attend)
    return found[1][0, 0]


def _output(attention: nn.MultiheadAttention, x: Tensor, may_attend: Tensor) -> Tensor:
    found: tuple[Tensor, None] = attention(x, x, x, attn_mask=~may_attend, need_weights=False)
    return found[0][0, 0]


def _fast(x: Tensor, may_attend: Tensor) -> Tensor:
    with torch.no_grad():
        return _output(_multihead(x), x, may_attend)


def _with_grad(x: Tensor, may_attend: Tensor) -> Tensor:
    with torch.enable_grad():
        return _output(_multihead(x), x, may_attend)


def _sdpa(x: Tensor, may_attend: Tensor) -> Tensor:
    return scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], may_attend)[0, 0, 0]


def _eager(x: Tensor, may_attend: Tensor) -> Tensor:
    lowest = torch.finfo(x.dtype).min
    mask = torch.zeros(may_attend.shape).masked_fill(~may_attend, lowest)[None, None]
    states = x[:, None]
    found: tuple[Tensor, Tensor] = eager_attention_forward(
        nn.Module().eval(), states, states, states, mask, scaling=WIDTH**-0.5
    )
    return found[1][0, 0, 0]


RUN: dict[Fate, Callable[[Tensor, Tensor], Tensor]] = {
    "multihead_weights": _with_weights,
    "multihead_fast": _fast,
    "multihead_grad": _with_grad,
    "sdpa": _sdpa,
    "transformers": _eager,
}
