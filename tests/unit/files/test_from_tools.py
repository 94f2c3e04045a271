"""`from_attentions`: the tensors of other tools, in each form that they have, or a refusal."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import attnviz
from attnviz.attention.stored_weights import StoredWeights
from attnviz.errors import BadInput
from attnviz.tokens.labels import visible
from tests.support import captures, hostile
from tests.support.shapes import unchecked

TOKENS = "the cat sat on it".split()
N_LAYER, N_HEAD, N = 2, 3, len(TOKENS)


def weights(*shape: int) -> Tensor:
    return torch.softmax(torch.randn(*shape, generator=torch.Generator().manual_seed(7)), -1)


WEIGHTS = weights(N_LAYER, 1, N_HEAD, N, N)


def generated(n_prompt: int, *, cache: bool = True, padded: int | None = None) -> tuple[Any, ...]:
    """What `generate` returns of causal WEIGHTS: the prompt's rows, then a row for each step."""
    steps = [range(n_prompt), *([row] for row in range(n_prompt, N))]
    result = []
    for step in steps:
        end = max(step) + 1
        rows = CAUSAL[:, :, :, list(step) if cache else range(end), : padded or end]
        result.append(tuple(rows))
    return tuple(result)


def _causal() -> Tensor:
    lower = WEIGHTS * torch.ones(N, N).tril()
    return lower / lower.sum(-1, keepdim=True)


CAUSAL = _causal()
FORMS: Mapping[str, tuple[object, Tensor]] = {
    "a tuple of transformers": (tuple(WEIGHTS), WEIGHTS),
    "arrays of half precision": ([layer.half() for layer in WEIGHTS], WEIGHTS),
    "one array with a batch": (WEIGHTS.numpy(), WEIGHTS),
    "one array": (WEIGHTS[:, 0].numpy(), WEIGHTS),
    "layers without a batch": (list(WEIGHTS[:, 0]), WEIGHTS),
    "one layer": (WEIGHTS[0, 0], WEIGHTS[:1]),
    "one head": (WEIGHTS[0, 0, 0], WEIGHTS[:1, :, :1]),
    "nested lists": (WEIGHTS[:, 0].tolist(), WEIGHTS),
    "lists of heads": ([list(layer[0].numpy()) for layer in WEIGHTS], WEIGHTS),
    "with a gradient": (tuple(layer.clone().requires_grad_() for layer in WEIGHTS), WEIGHTS),
    "generate": (generated(3), CAUSAL),
    "generate without a cache": (generated(3, cache=False), CAUSAL),
    "generate of one step": (generated(N), CAUSAL),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_its_weights(form: str) -> None:
    attentions, expected = FORMS[form]
    cap = attnviz.from_attentions(attentions, TOKENS)
    assert list(cap.tokens.labels) == TOKENS
    tolerance = 1e-3 if "half" in form else 1e-7
    np.testing.assert_allclose(cap.all_weights(), expected[:, 0].numpy(), atol=tolerance)
    assert cap.verify().worst is None, "weights alone are compared with nothing"
    assert len(cap.table()["head"]) == len(expected) * expected.shape[2]


def test_a_batch_has_labels_for_each_text() -> None:
    two = weights(N_LAYER, 2, N_HEAD, N, N)
    cap = attnviz.from_attentions(tuple(two), [TOKENS, [word.upper() for word in TOKENS]])
    assert cap.tokens_of(1).labels[1] == "CAT"
    np.testing.assert_array_equal(cap.weights("L1.H2", batch=1), two[1, 1, 2].numpy())


def test_cross_attention_has_two_lists_of_labels() -> None:
    cross = weights(N_LAYER, 1, N_HEAD, 3, N)
    cap = attnviz.from_attentions(tuple(cross), ["le", "chat", "dort"], TOKENS, name="marian")
    call = cap.call(0, "cross", "decoder")
    assert list(cap.key_tokens(call).labels) == TOKENS and cap.model.id == "marian"


def test_labels_become_visible_text() -> None:
    labels = list(hostile.TOKENS)
    n = len(labels)
    cap = attnviz.from_attentions(np.full((n, n), 1 / n), labels)
    assert cap.tokens.labels[0] == visible(labels[0])
    assert "\ud83d" not in "".join(cap.tokens.labels)


# --- TransformerLens ---------------------------------------------------------------------------


def cache(*, scaling: float | None = None, softcap: float | None = None) -> dict[str, Tensor]:
    """A cache as TransformerLens names it, of two causal layers."""
    named: dict[str, Tensor] = {"blocks.0.hook_resid_pre": torch.zeros(1, N, 6)}
    factor = 10**-0.5 if scaling is None else scaling
    for layer in range(N_LAYER):
        inputs = captures.qkv(1, 6, 6, N, N, causal=True, scaling=factor, softcap=softcap)
        call = captures.call(inputs)
        place = f"blocks.{layer}.attn.hook_"
        for name in ("query", "key", "value"):
            named[f"{place}{name[0]}"] = getattr(inputs, name).transpose(1, 2)
        named[f"{place}z"] = call.output
        named[f"{place}pattern"] = call.weights(None, 0)[None]
    return named


def without(named: dict[str, Tensor], *parts: str) -> dict[str, Tensor]:
    return {
        name: tensor
        for name, tensor in named.items()
        if not any(name.endswith(f"hook_{part}") for part in parts)
    }


@pytest.mark.parametrize("scaling", [None, 1.0, 0.25])
def test_a_whole_cache_has_every_step_and_verifies(scaling: float | None) -> None:
    named = cache(scaling=scaling)
    chosen = scaling if scaling == 0.25 else None
    for source in (named, SimpleNamespace(cache_dict=named)):
        cap = attnviz.from_attentions(source, TOKENS, scaling=chosen)
        verification = cap.verify()
        assert verification.ok and verification.worst is not None
        assert cap.head("L1.H5")["scores"].shape == (N, N)
        expected = named["blocks.1.attn.hook_pattern"][0].numpy()
        np.testing.assert_allclose(cap.weights(1), expected, atol=1e-6)


def test_a_cache_without_patterns_is_enough() -> None:
    cap = attnviz.from_attentions(without(cache(), "pattern"), TOKENS)
    assert cap.verify().ok and cap.calls[0].inputs.causal


def test_a_cache_of_patterns_alone_has_weights() -> None:
    named = cache()
    cap = attnviz.from_attentions(without(named, "q", "k", "v", "z"), TOKENS)
    np.testing.assert_array_equal(cap.weights(0), named["blocks.0.attn.hook_pattern"][0].numpy())


def test_scores_that_cannot_be_found_again_keep_the_pattern() -> None:
    named = cache(softcap=2.0)
    cap = attnviz.from_attentions(named, TOKENS)
    np.testing.assert_array_equal(cap.weights(0), named["blocks.0.attn.hook_pattern"][0].numpy())
    assert isinstance(cap.calls[0].inputs, StoredWeights)
    with pytest.raises(BadInput, match="keep hook_pattern in the cache as well, or give scaling="):
        attnviz.from_attentions(without(named, "pattern"), TOKENS)


# --- what is refused ---------------------------------------------------------------------------

SDPA = r"attnviz\.capture\(model, text\).*attn_implementation='eager'"
REFUSED: dict[str, tuple[object, object, str]] = {
    "None": (None, TOKENS, SDPA),
    "the empty tuple of SDPA": ((), TOKENS, SDPA),
    "a tuple of None": ((None, None), TOKENS, SDPA),
    "steps of nothing": (((None,), (None,)), TOKENS, SDPA),
    "scores": (torch.randn(2, 1, 3, N, N), TOKENS, "after the softmax, from a model in .eval()"),
    "NaN": (torch.full((1, 1, 1, N, N), float("nan")), TOKENS, "does not hold weights"),
    "a text": ("attention", TOKENS, "they are str; give a tuple or an array"),
    "words": ([["a", "b"]], TOKENS, "they are not numbers"),
    "uneven lists": ([[1.0], [0.5, 0.5]], TOKENS, "of uneven lengths"),
    "six dimensions": (torch.zeros(1, 1, 1, 1, N, N), TOKENS, r"is not \[layer, head, query"),
    "an output of transformers": (
        {"last_hidden_state": torch.zeros(1), "attentions": (1,)}, TOKENS,
        r"give outputs\.attentions",
    ),
    "other words": ({"hidden": torch.zeros(1)}, TOKENS, "give the weights themselves"),
    "a cache of something else": (
        {"blocks.0.hook_resid_pre": torch.zeros(1)}, TOKENS, "has no blocks.0.attn.hook_pattern",
    ),
    "other lengths": (tuple(WEIGHTS), TOKENS[:4], "5 queries and 5 keys, for 4 tokens"),
    "no key tokens": (weights(1, 1, 2, N, 9), TOKENS, "give key_tokens= as well"),
    "a text for labels": (tuple(WEIGHTS), "the cat", "give a list of labels"),
    "labels of other texts": (tuple(WEIGHTS), [TOKENS, TOKENS], "2 texts and there are 1"),
    "steps of several sizes": ((tuple(WEIGHTS), tuple(WEIGHTS[:1])), TOKENS, "have .* layers"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_the_refusal_says_what_to_do(name: str) -> None:
    attentions, tokens, message = REFUSED[name]
    with pytest.raises(BadInput, match=message) as raised, unchecked():
        attnviz.from_attentions(attentions, tokens)  # type: ignore[arg-type]
    assert raised.value.code == "bad_attentions"


def test_weights_have_no_scaling() -> None:
    with pytest.raises(BadInput, match="belongs to a cache"):
        attnviz.from_attentions(tuple(WEIGHTS), TOKENS, scaling=0.5)
