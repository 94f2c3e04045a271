"""Sheets to begin with: worked examples of course texts on attention.

In: a preset's name. Out: its `Sheet`. Each is a set of numbers, not a copy of a text: masked scores
of four tokens (block), a seeded NumPy example (seeded), a joint projection of picture patches
(patches), a decoder's six tokens under the causal mask (decoder), and head 0 of
`torch.nn.MultiheadAttention` from seed 55 (multihead).
"""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import torch
from torch import nn

from attnviz.models.seeded_models import seeded
from attnviz.teach.calculator.sheet import Sheet, sheet

Preset = Literal["block", "seeded", "patches", "decoder", "multihead"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
DECODER_TOKENS = ("Have", "you", "learned", "nothing", "?", "<eos>")
# the scores of the block example; 0 where the causal mask blocks and no score was published
BLOCK_SCORES = [
    [1.1, 0.0, 0.0, 0.0],
    [1.4, -0.7, 0.0, 0.0],
    [-2.1, 1.0, 0.8, 0.0],
    [0.9, 2.9, 3.3, 1.4],
]


def preset(name: Preset) -> Sheet:
    """The sheet of a preset."""
    return MAKERS[name]()


def _block() -> Sheet:
    """The scores themselves: with K the identity, Q·Kᵀ is Q; with V the identity, A·V is A."""
    identity = np.eye(4)
    return sheet({"q": np.array(BLOCK_SCORES), "k": identity, "v": identity}, "causal", "none")


def _seeded() -> Sheet:
    """Q, K, V drawn in this order by NumPy's legacy generator from seed 0; divided by d."""
    draws = np.random.RandomState(0)
    q, k, v = (np.round(draws.normal(size=(5, 3)), 8) for _ in range(3))
    return sheet({"q": q, "k": k, "v": v}, "none", "d")


def _patches() -> Sheet:
    """Four patches of six numbers; one joint matrix makes q, k and v, three columns each."""
    draws = np.random.default_rng(3)
    z, joint = np.round(draws.normal(size=(4, 6)), 2), np.round(draws.normal(size=(6, 9)) / 2, 2)
    w_q, w_k, w_v = np.split(joint, 3, axis=1)
    names = ("patch1", "patch2", "patch3", "patch4")
    return sheet({"x": z, "w_q": w_q, "w_k": w_k, "w_v": w_v}, tokens=names)


def _decoder() -> Sheet:
    draws = np.random.default_rng(6)
    q, k, v = (np.round(draws.normal(size=(6, 4)), 2) for _ in range(3))
    return sheet({"q": q, "k": k, "v": v}, "causal", tokens=DECODER_TOKENS)


def _multihead() -> Sheet:
    """W_Q, W_K, W_V from head 0's rows of in_proj_weight, transposed; W_O from its columns.

    Rounded to five decimals, which a box can show; the weights keep their four printed digits.
    """
    with seeded(55), torch.no_grad():
        x = torch.randn(1, 5, 4)[0]
        module = nn.MultiheadAttention(4, 2, bias=False, batch_first=True)
        packed, out = module.in_proj_weight, module.out_proj.weight
        slices = {"x": x, "w_q": packed[0:2].T, "w_k": packed[4:6].T, "w_v": packed[8:10].T}
        tensors = slices | {"w_o": out[:, 0:2].T}
        rounded = {name: np.round(values.double().numpy(), 5) for name, values in tensors.items()}
        return sheet(rounded)  # type: ignore[arg-type]


MAKERS: dict[Preset, Callable[[], Sheet]] = {
    "block": _block,
    "seeded": _seeded,
    "patches": _patches,
    "decoder": _decoder,
    "multihead": _multihead,
}
