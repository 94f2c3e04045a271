"""Encoder–decoders, vision transformers and generation, each against an independent reference."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn.functional import scaled_dot_product_attention
from transformers import StaticCache

from attnviz.attention import memory
from attnviz.attention.steps import derive
from attnviz.capture.generation.settings import Generation
from attnviz.capture.record.recorder import record
from attnviz.capture.run import capture
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from tests.support import folders

TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    names = ("gpt2", "llama", "marian", "t5", "vit")
    return {
        name: load(folders.save(tmp_path_factory.mktemp(name) / "model", name)) for name in names
    }


def eager(lm: LoadedModel, **inputs: torch.Tensor) -> dict[str, list[torch.Tensor]]:
    """Every attention tensor that the model gives under eager attention."""
    lm.model.set_attn_implementation("eager")
    with torch.no_grad():
        out = lm.model(**inputs, output_attentions=True)
    lm.model.set_attn_implementation("sdpa")
    return {name: list(value) for name, value in out.items() if name.endswith("attentions")}


@pytest.mark.parametrize("name", ["marian", "t5"])
def test_an_encoder_decoder_has_three_attentions(models: dict[str, LoadedModel], name: str) -> None:
    lm = models[name]
    cap = capture(lm, ["the cat sat on a mat", "a dog ran"], target=["a cat slept", "the dog"])
    source, target = cap.tokens_of(0, "encoder"), cap.tokens_of(0, "decoder")
    assert source.labels == ("the", "cat", "sat", "on", "a", "mat", "</s>")
    assert target.labels == ("[PAD]", "a", "cat", "slept")
    ids = {
        "input_ids": torch.tensor(np.stack([cap.tokens_of(b, "encoder").ids for b in (0, 1)])),
        "decoder_input_ids": torch.tensor(
            np.stack([cap.tokens_of(b, "decoder").ids for b in (0, 1)])
        ),
    }
    masks = {
        "attention_mask": (ids["input_ids"] != 0).long(),
        "decoder_attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]),
    }
    theirs = eager(lm, **ids, **masks)
    for layer in range(2):
        for kind, stack, key in (
            ("self", "encoder", "encoder_attentions"),
            ("self", "decoder", "decoder_attentions"),
            ("cross", "decoder", "cross_attentions"),
        ):
            for batch, n_row in ((0, None), (1, 3)):
                ours = cap.weights(layer, kind=kind, stack=stack, batch=batch)
                expected = theirs[key][layer][batch].numpy()
                assert ours.shape == expected.shape
                assert np.abs(ours - expected)[:, :n_row].max() <= TOLERANCE
    cross = cap.call(1, kind="cross")
    assert (cross.n_query, cross.n_key) == (4, 7)
    assert cap.key_tokens(cross).labels == source.labels
    assert cap.query_tokens(cross).labels == target.labels
    cap.verify().require()


def test_t5_shows_its_position_bias_as_a_stage(models: dict[str, LoadedModel]) -> None:
    cap = capture(models["t5"], "the cat sat", target="a cat")
    steps = derive(cap.call(0, stack="encoder"), head=1)
    assert steps.biased is not None
    table = models["t5"].model.encoder.block[0].layer[0].SelfAttention.relative_attention_bias
    # token 2 asks token 0: two places back; T5's buckets for small distances are the distances
    added = steps.biased[2, 0] - steps.scaled[2, 0]
    assert float(added) == pytest.approx(float(table.weight[2, 1].detach()), abs=1e-5)
    assert [view.stage for view in steps.views()].index("biased") > 0


def test_an_encoder_decoder_needs_a_target(models: dict[str, LoadedModel]) -> None:
    with pytest.raises(BadInput, match="give target=, or generate="):
        capture(models["marian"], "the cat")


def test_a_picture_becomes_patches(models: dict[str, LoadedModel]) -> None:
    lm = models["vit"]
    pixels = np.random.default_rng(5).integers(0, 255, (20, 20, 3), dtype=np.uint8)
    cap = capture(lm, image=Image.fromarray(pixels))
    assert cap.grid == (3, 3)
    assert cap.tokens.labels[:3] == ("[CLS]", "r0c0", "r0c1")
    assert cap.tokens.special.tolist() == [True] + [False] * 9
    assert cap.logits is not None and cap.logits.shape == (1, 3)
    values = lm.processor(images=Image.fromarray(pixels), return_tensors="pt")["pixel_values"]
    for layer, expected in enumerate(eager(lm, pixel_values=values)["attentions"]):
        np.testing.assert_allclose(cap.weights(layer), expected[0], atol=TOLERANCE)
    again = capture(lm, image=pixels)
    np.testing.assert_array_equal(cap.weights(0), again.weights(0))
    with pytest.raises(BadInput, match="give a PIL.Image"):
        capture(lm, image=np.zeros((3, 3), dtype=np.float32))


WAYS = {
    "greedy": Generation(5),
    "sampled": Generation(5, temperature=1.5, top_k=10, seed=3),
    "beams": Generation(5, beams=3),
}


@pytest.mark.some(2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_generated_rows_equal_one_run_over_the_whole(
    models: dict[str, LoadedModel], name: str, way: str
) -> None:
    lm = models[name]
    cap = capture(lm, ["the cat sat on", "a dog"], generate=WAYS[way])
    assert cap.tokens.labels[:4] == ("the", "cat", "sat", "on")
    ids = torch.tensor(np.stack([cap.tokens_of(batch).ids for batch in (0, 1)]))
    keep = torch.tensor(np.stack([~cap.tokens_of(batch).padding for batch in (0, 1)])).long()
    positions = (keep.cumsum(1) - 1).clamp(min=0)
    theirs = eager(lm, input_ids=ids, attention_mask=keep, position_ids=positions)
    for layer, expected in enumerate(theirs["attentions"]):
        for batch in (0, 1):
            ours = torch.from_numpy(cap.weights(layer, batch=batch))
            assert ours.shape == expected[batch].shape
            real = keep[batch].bool()
            assert float((ours - expected[batch])[:, real].abs().max()) <= TOLERANCE
    cap.verify().require()


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_positions_that_begin_anew_are_read_as_the_model_reads_them(
    models: dict[str, LoadedModel], name: str
) -> None:
    """Without a cache transformers takes them for packed texts that do not see each other."""
    lm = models[name]
    inputs = {
        "input_ids": torch.tensor([[5, 6, 7, 8, 9]]),
        "position_ids": torch.tensor([[0, 1, 2, 0, 1]]),
    }
    theirs = eager(lm, **inputs)["attentions"]
    with torch.no_grad():
        logits, packed = (lm.model(**inputs, **no).logits for no in ({}, {"use_cache": False}))
    assert float((logits - packed).abs().max()) > 100 * TOLERANCE
    for _ in range(3):  # recorded, and noted
        cap = capture(lm, inputs=inputs)
        assert cap.logits is not None
        torch.testing.assert_close(cap.logits, logits, atol=TOLERANCE, rtol=0)
        for layer, expected in enumerate(theirs):
            ours = torch.from_numpy(cap.weights(layer))
            assert float((ours - expected[0]).abs().max()) <= TOLERANCE
        cap.verify().require()
    assert capture(lm, inputs={**inputs, "use_cache": False}).weights(0)[0, 4, 0] == 0


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["marian", "t5"])
@pytest.mark.parametrize("way", WAYS)
def test_generated_cross_attention_equals_one_run(
    models: dict[str, LoadedModel], way: str, name: str
) -> None:
    lm = models[name]
    cap = capture(lm, "the cat sat on a mat", generate=WAYS[way])
    target = torch.tensor(cap.tokens_of(0, "decoder").ids)[None]
    source = torch.tensor(cap.tokens_of(0, "encoder").ids)[None]
    theirs = eager(lm, input_ids=source, decoder_input_ids=target)
    for layer in range(2):
        for kind, key in (("self", "decoder_attentions"), ("cross", "cross_attentions")):
            ours = cap.weights(layer, kind=kind, stack="decoder")
            np.testing.assert_allclose(ours, theirs[key][layer][0], atol=TOLERANCE)


def test_the_same_seed_writes_the_same(models: dict[str, LoadedModel]) -> None:
    def written(seed: int) -> list[int]:
        how = Generation(12, temperature=2.0, seed=seed)
        return capture(models["gpt2"], "the cat", generate=how).tokens.ids.tolist()

    assert written(1) == written(1)
    assert written(1) != written(2)


def test_a_sampled_text_is_what_transformers_draws(models: dict[str, LoadedModel]) -> None:
    lm = models["gpt2"]
    ids = lm.tokenizer("the cat", return_tensors="pt")["input_ids"]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(3)
        theirs = lm.model.generate(
            ids, max_new_tokens=12, do_sample=True, temperature=1.5, top_k=9, top_p=0.9
        )
    how = Generation(12, temperature=1.5, top_k=9, top_p=0.9, seed=3)
    ours = capture(lm, "the cat", generate=how).tokens.ids
    # the last token that was drawn was never read
    assert ours.tolist() == theirs[0, : len(ours)].tolist()


def test_other_threads_do_not_change_what_is_drawn(models: dict[str, LoadedModel]) -> None:
    how = Generation(12, temperature=2.0, seed=1)
    quiet = capture(models["gpt2"], "the cat", generate=how).tokens.ids.tolist()
    done = threading.Event()

    def draw() -> None:
        while not done.is_set():
            torch.rand(1)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(draw)
        try:
            busy = capture(models["gpt2"], "the cat", generate=how).tokens.ids.tolist()
        finally:
            done.set()
        other.result()
    assert busy == quiet


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2"])
def test_a_static_cache_writes_what_a_growing_one_does(
    models: dict[str, LoadedModel], name: str
) -> None:
    lm = models[name] if name in models else load(folders.model(name))
    given = {"inputs": {"input_ids": [[6, 7, 8, 9], [9, 8, 7, 6]]}, "generate": 5}
    expected = capture(lm, **given)
    lm.model.generation_config.cache_implementation = "static"
    try:
        cap = capture(lm, **given)
    finally:
        lm.model.generation_config.cache_implementation = None
    assert not cap.missing and len(cap.calls) == len(expected.calls)
    for ours, theirs in zip(cap.calls, expected.calls, strict=True):
        assert (ours.n_query, ours.n_key, ours.index) == (8, 8, theirs.index)
        for batch in range(2):
            torch.testing.assert_close(
                ours.weights(batch=batch), theirs.weights(batch=batch), atol=1e-6, rtol=0
            )
        assert ours.projections.keys() == theirs.projections.keys()
        assert ours.verify().ok


def test_passes_over_a_static_cache_are_recorded_one_by_one() -> None:
    model, ids = folders.model("llama"), torch.tensor([[6, 7, 8, 9, 10, 11]])
    cache = StaticCache(model.config, 20)
    with torch.no_grad(), record(model) as calls:
        for part in ids.split([3, 2, 1], dim=1):
            model(input_ids=part, past_key_values=cache)
    with torch.no_grad(), record(model) as whole:
        model(input_ids=ids)
    sizes = [(call.n_query, call.n_key) for call in calls]
    assert sizes == [(3, 3)] * len(whole) + [(2, 5)] * len(whole) + [(1, 6)] * len(whole)
    for layer, expected in enumerate(whole):
        parts = [call.weights() for call in calls[layer :: len(whole)]]
        rows = [torch.nn.functional.pad(part, (0, 6 - part.shape[-1])) for part in parts]
        torch.testing.assert_close(torch.cat(rows, 1), expected.weights(), atol=1e-6, rtol=0)
    assert all(call.verify().ok for call in calls)


@pytest.mark.parametrize("n_token", [300, 700])
def test_a_long_text_keeps_samples_and_still_verifies(
    models: dict[str, LoadedModel], n_token: int
) -> None:
    model = folders.model("llama")
    ids = torch.randint(6, folders.VOCAB, (1, n_token))
    cap = capture(load(model), inputs={"input_ids": ids})
    call = cap.call(1)
    assert call.row_step == (1 if n_token <= 512 else 88)
    assert call.verify().worst.error <= TOLERANCE
    q, k, v = call.inputs.qkv(2)
    expected = scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    torch.testing.assert_close(derive(call, 2).mixed, expected, atol=TOLERANCE, rtol=0)
    held = memory.nbytes(memory.tensors(call))
    assert cap.nbytes == pytest.approx(2 * held + cap.logits.untyped_storage().nbytes(), rel=0.01)


def test_float16_storage_halves_q_k_and_v(models: dict[str, LoadedModel]) -> None:
    lm = models["gpt2"]
    full = capture(lm, "the cat sat on a mat")
    half = capture(lm, "the cat sat on a mat", store="float16")
    assert half.call(0).inputs.query.dtype == torch.float16
    assert 0 < np.abs(full.weights(1) - half.weights(1)).max() < 5e-3
