"""Small captures made of random numbers: what a test needs of one without running a model."""

import numpy as np
import torch

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.types import Kind, ModelKey, Stack, Tokens

WORDS = "the cat sat on a red mat while it slept".split()


def text_tokens(n_token: int, stack: str = "") -> Tokens:
    """Words without a special token, each with its place in the text."""
    words = [f"{stack}{WORDS[place % len(WORDS)]}" for place in range(n_token)]
    stops = np.cumsum([len(word) + 1 for word in words]) - 1
    return Tokens(
        text=" ".join(words),
        ids=np.array([WORDS.index(word.removeprefix(stack)) for word in words], dtype=np.int64),
        pieces=tuple(words),
        labels=tuple(words),
        offsets=tuple((int(stop) - len(word), int(stop)) for word, stop in zip(words, stops)),  # noqa: B905
        special=np.zeros(n_token, dtype=np.bool_),
        padding=np.zeros(n_token, dtype=np.bool_),
    )


def call(
    layer: int = 0,
    *,
    n_head: int = 3,
    n_query: int = 7,
    n_key: int | None = None,
    n_batch: int = 1,
    causal: bool = False,
    kind: Kind = "self",
    stack: Stack | None = None,
    index: int = 0,
    seed: int = 0,
    scaling: float = 0.4,
) -> AttentionCall:
    """A call whose output is what its inputs give."""
    draws = torch.Generator().manual_seed(1000 * seed + 10 * layer + index)
    n_key, width = n_key or n_query, 5

    def random(n_token: int) -> torch.Tensor:
        return torch.randn(n_batch, n_head, n_token, width, generator=draws)

    inputs = AttentionInputs(random(n_query), random(n_key), random(n_key), None, causal, scaling)
    mixed = [
        torch.stack([inputs.stages(head, batch)["mixed"] for head in range(n_head)], dim=1)
        for batch in range(n_batch)
    ]
    return AttentionCall(
        module=f"{stack or 'model'}.{layer}.{kind}",
        index=index,
        layer=layer,
        stack=stack,
        kind=kind,
        inputs=inputs,
        output=torch.stack(mixed),
    )


def capture(*calls: AttentionCall, **parts: object) -> Capture:
    """A capture of these calls, each stack with as many words as its self-attention has queries."""
    tokens = {
        one.stack: (text_tokens(one.n_query),) * one.n_batch for one in calls if one.kind == "self"
    }
    return Capture(ModelKey("made-up", "", "float32", "cpu"), calls, tokens, **parts)  # type: ignore[arg-type]
