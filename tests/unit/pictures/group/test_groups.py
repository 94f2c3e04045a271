"""`Group`: which mask, tokens and weights of a call belong to the window that is looked at."""

from dataclasses import replace

import numpy as np
import torch

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.models.loaded_model import ModelKey
from attnviz.pictures.group.groups import Group, groups, mask
from attnviz.vision.windows import Windows

N_WINDOWS, N_HEADS, N_TOKENS, D_HEAD = 6, 7, 4, 3
SEED = 11


def windowed_call() -> AttentionCall:
    """A call of six windows whose mask differs in every window and in every head."""
    made = torch.Generator().manual_seed(SEED)
    shape = (N_WINDOWS, N_HEADS, N_TOKENS, D_HEAD)
    q, k, v = (torch.randn(shape, generator=made) for _ in range(3))
    stored = torch.rand((N_WINDOWS, N_HEADS, N_TOKENS, N_TOKENS), generator=made) < 0.7
    inputs = AttentionInputs(q, k, v, stored, causal=False, scaling=1.0)
    return AttentionCall(
        module="layer.0",
        index=0,
        layer=0,
        stack=None,
        kind="self",
        inputs=inputs,
        output=torch.zeros((N_WINDOWS, N_TOKENS, N_HEADS, D_HEAD)),
        windows=Windows(count=N_WINDOWS, side=2, grid=(4, 6)),
    )


def windowed_group(window: int) -> Group:
    call = windowed_call()
    capture = Capture(ModelKey("made up", "main", "float32", "cpu"), (call,), {}, grid=(4, 6))
    (group,) = groups(capture)
    return replace(group, window=window)


def test_mask_is_the_mask_of_the_window_and_of_the_first_head() -> None:
    """The window is a row of the batch, never a head (window 5 is not head 5 of window 0)."""
    stored = windowed_call().inputs.mask  # type: ignore[union-attr]
    assert stored is not None
    for window in range(N_WINDOWS):
        np.testing.assert_array_equal(mask(windowed_group(window), 0), stored[window, 0].numpy())
