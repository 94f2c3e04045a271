"""The packaged encoder against itself under eager attention, and against its own inner tensors.

The references never go through attnviz: eager attention with `output_attentions`, forward hooks on
the model's modules, and `torch.nn.functional`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention, softmax

from attnviz.attention.steps import derive
from attnviz.capture.run import capture
from attnviz.models.loaded_model import LoadedModel

TEXTS = [
    "The animal didn't cross the street because it was too tired.",
    "Short.",
    "東京は日本の首都です。 👩‍👩‍👧 </script> %{x} שלום",
]
TOLERANCE = 1e-5
# what padding positions ask differs a little more between the fused and the eager kernel, since
# their hidden states are driven by rounding alone (measured: 1.1e-5 in layer 3)
PADDING_TOLERANCE = 5e-5


def eager_weights(lm: LoadedModel, texts: list[str]) -> list[Tensor]:
    """Attention [batch, head, query, key] of each layer, as transformers' eager code gives it."""
    inputs = lm.tokenizer(texts, padding=True, return_tensors="pt")
    before = lm.model.config._attn_implementation
    lm.model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            return list(lm.model(**inputs, output_attentions=True).attentions)
    finally:
        lm.model.set_attn_implementation(before)


@contextmanager
def outputs_of(model: nn.Module, *names: str) -> Iterator[dict[str, Tensor]]:
    """What the named modules return while the block runs."""
    seen: dict[str, Tensor] = {}

    def keep(name: str) -> object:
        return lambda _module, _args, output: seen.update({name: output})

    handles = [model.get_submodule(name).register_forward_hook(keep(name)) for name in names]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


@pytest.mark.parametrize("texts", [TEXTS[:1], TEXTS], ids=["one text", "padded batch"])
def test_weights_of_all_heads_equal_eager(minilm: LoadedModel, texts: list[str]) -> None:
    cap = capture(minilm, texts)
    theirs = eager_weights(minilm, texts)
    assert len(theirs) == cap.n_layers == 6
    for layer, expected in enumerate(theirs):
        for batch in range(len(texts)):
            ours = torch.from_numpy(cap.weights(layer, batch=batch))
            assert ours.shape == expected[batch].shape
            difference = (ours - expected[batch]).abs().amax(dim=(0, 2))
            padding = torch.from_numpy(cap.tokens_of(batch).padding)
            assert float(difference[~padding].max()) <= TOLERANCE
            assert float(difference.max()) <= PADDING_TOLERANCE


def test_a_sentence_pair_is_joined_as_the_tokenizer_joins_it(minilm: LoadedModel) -> None:
    cap = capture(minilm, "Is it cold?", "It is warm.")
    joined = minilm.tokenizer("Is it cold?", "It is warm.")
    assert cap.tokens.ids.tolist() == joined["input_ids"]
    text, offsets = cap.tokens.text, cap.tokens.offsets
    assert [text[start:end] for start, end in offsets[-3:]] == ["warm", ".", ""]


def test_padding_keys_get_no_weight(minilm: LoadedModel) -> None:
    cap = capture(minilm, TEXTS)
    padding = cap.tokens_of(1).padding
    assert padding.sum() > 5
    assert (cap.all_weights(batch=1)[..., padding] == 0).all()


@pytest.mark.parametrize("batch", range(len(TEXTS)))
@pytest.mark.parametrize(("layer", "head"), [(0, 2), (3, 7), (5, 11)])
def test_stages_equal_torch(minilm: LoadedModel, layer: int, head: int, batch: int) -> None:
    attention = f"encoder.layer.{layer}.attention"
    names = [f"{attention}.self.query", f"{attention}.self.key", f"{attention}.self.value"]
    names.append(f"{attention}.output.dense")
    with outputs_of(minilm.model, *names) as seen:
        cap = capture(minilm, TEXTS)
    steps = derive(cap.call(layer), head, batch)

    width = 32
    mine = slice(head * width, (head + 1) * width)
    q, k, v = (seen[name][batch, :, mine] for name in names[:3])
    close = {"atol": TOLERANCE, "rtol": 0.0}
    for ours, theirs in ((steps.q, q), (steps.k, k), (steps.v, v)):
        torch.testing.assert_close(ours, theirs, **close)
    keep = torch.from_numpy(~cap.tokens_of(batch).padding)
    scaled = q @ k.T / width**0.5
    torch.testing.assert_close(steps.scores, q @ k.T, atol=1e-4, rtol=0)
    torch.testing.assert_close(steps.scaled, scaled, **close)
    masked = scaled.masked_fill(~keep, -torch.inf)
    torch.testing.assert_close(steps.masked, masked, **close)
    torch.testing.assert_close(steps.weights, softmax(masked, dim=-1), **close)
    fused = scaled_dot_product_attention(q, k, v, attn_mask=keep.expand(len(keep), -1))
    torch.testing.assert_close(steps.mixed, fused, **close)
    torch.testing.assert_close(steps.projected, seen[names[3]][batch], **close)


def test_x_times_the_heads_slice_of_each_matrix_gives_q_k_and_v(minilm: LoadedModel) -> None:
    cap = capture(minilm, TEXTS[0])
    steps = derive(cap.call(2), 5)
    module = minilm.model.get_submodule("encoder.layer.2.attention.self")
    assert steps.x is not None
    rows = slice(5 * 32, 6 * 32)
    for name, matrix, result in (
        ("query", steps.w_q, steps.q),
        ("key", steps.w_k, steps.k),
        ("value", steps.w_v, steps.v),
    ):
        layer = module.get_submodule(name)
        torch.testing.assert_close(matrix, layer.weight[rows].T)
        expected = linear(steps.x, layer.weight[rows], layer.bias[rows])
        torch.testing.assert_close(result, expected, atol=TOLERANCE, rtol=0)


def test_the_projected_output_is_a_sum_over_heads(minilm: LoadedModel) -> None:
    call = capture(minilm, TEXTS[0]).call(4)
    heads = [derive(call, head) for head in range(call.n_heads)]
    total = sum(steps.mixed @ steps.w_o for steps in heads if steps.w_o is not None)
    bias = minilm.model.get_submodule("encoder.layer.4.attention.output.dense").bias
    torch.testing.assert_close(total + bias, heads[0].projected, atol=TOLERANCE, rtol=0)


def test_reach_is_the_length_of_what_each_key_writes(minilm: LoadedModel) -> None:
    steps = derive(capture(minilm, TEXTS[0]).call(2), head=7)
    assert steps.x is not None
    attention = minilm.model.encoder.layer[2].attention
    columns = slice(7 * 32, 8 * 32)
    value = steps.x @ attention.self.value.weight[columns].T + attention.self.value.bias[columns]
    written = value @ attention.output.dense.weight[:, columns].T
    assert steps.value_norms is not None
    assert torch.allclose(steps.value_norms, written.norm(dim=1), atol=1e-5)


def test_every_stage_the_model_makes_has_an_error_below_tolerance(minilm: LoadedModel) -> None:
    steps = derive(capture(minilm, TEXTS).call(1), 3, batch=2)
    assert set(steps.errors) == {"q", "k", "v", "mixed", "concat", "projected"}
    assert all(error <= TOLERANCE for error in steps.errors.values())
    assert all(view.ok for view in steps.views())


def test_a_what_if_mask_changes_everything_after_it_and_claims_no_agreement(
    minilm: LoadedModel,
) -> None:
    call = capture(minilm, TEXTS[0]).call(0)
    causal = torch.ones(call.n_query, call.n_key, dtype=torch.bool).tril()
    steps = derive(call, 2, mask=causal)
    q, k, v = call.inputs.qkv(2)
    theirs = scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    torch.testing.assert_close(steps.mixed, theirs, atol=TOLERANCE, rtol=0)
    assert steps.what_if
    assert set(steps.errors) == {"q", "k", "v"}
    assert (steps.weights.triu(1) == 0).all()
