"""The story decoders as shipped: what their cards claim, and that the measures measure it.

The references never go through attnviz: eager attention with `output_attentions`, single forward
passes without padding, and sums written out by hand.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from attnviz.capture.run import capture
from attnviz.checks import cards, decoders
from attnviz.checks import stories as checks
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.models.registry import embedded_folder
from attnviz.types import HeadId
from attnviz.worlds.cases import Choice
from scripts.train.worlds.stories import words

NAMES = ("stories", "stories-llama")
MAX_BYTES = 6_000_000
# another machine sums in another order; a choice between two close candidates may then fall out
# differently, and so a share of 200 prompts by a few
TOLERANCE = 0.02


@pytest.fixture(scope="module", params=NAMES)
def lm(request: pytest.FixtureRequest) -> LoadedModel:
    return load(request.param)


def folder_of(lm: LoadedModel) -> Path:
    folder = embedded_folder(lm.name)
    assert folder is not None
    return folder


def eager_attention(lm: LoadedModel, ids: torch.Tensor) -> np.ndarray:
    """[layer, text, head, query, key], as transformers' own eager code gives it."""
    before = lm.model.config._attn_implementation
    lm.model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            return torch.stack(lm.model(ids, output_attentions=True).attentions).numpy()
    finally:
        lm.model.set_attn_implementation(before)


def log_p_of(lm: LoadedModel, prompt: str, continuation: str) -> float:
    """log p of a continuation, token by token, each after its own forward pass."""
    ids = lm.tokenizer(prompt)["input_ids"]
    total = 0.0
    for token in lm.tokenizer(continuation, add_special_tokens=False)["input_ids"]:
        with torch.no_grad():
            logits = lm.model(torch.tensor([ids])).logits[0, -1]
        total += float(logits.log_softmax(-1)[token])
        ids = [*ids, token]
    return total


def best_word(lm: LoadedModel, prompt: str) -> str:
    logits = capture(lm, prompt).logits
    return lm.tokenizer.decode([int(logits[0, -1].argmax())])


@pytest.mark.slow
def test_the_card_holds(lm: LoadedModel) -> None:
    card = cards.read(folder_of(lm))
    measured = checks.check(lm)
    assert [figure.name for figure in measured] == [figure.name for figure in card.figures]
    for ours, stored in zip(measured, card.figures, strict=True):
        assert ours.value == pytest.approx(stored.value, abs=TOLERANCE), ours.name
        assert (ours.target, ours.cases) == (stored.target, stored.cases)
        assert ours.reached, str(ours)


def test_the_weights_are_small_and_half_precision(lm: LoadedModel) -> None:
    weights = folder_of(lm) / "model.safetensors"
    n_parameters = sum(parameter.numel() for parameter in lm.model.parameters())
    assert weights.stat().st_size < MAX_BYTES
    assert weights.stat().st_size < 2 * n_parameters + 40_000
    assert lm.card.parameters == n_parameters


def test_the_curve_shows_when_induction_appears(lm: LoadedModel) -> None:
    curve = json.loads((folder_of(lm) / "curve.json").read_text(encoding="utf-8"))
    steps = [point["step"] for point in curve]
    induction = {point["step"]: point["induction"] for point in curve}
    assert steps == sorted(set(steps)) and len(steps) >= 20
    assert induction[steps[0]] < 0.1 and induction[steps[-1]] > 0.9
    copying = {point["step"]: point["copying"] for point in curve}
    assert copying[steps[0]] < 0.1 and copying[steps[-1]] > 0.95


def test_query_heads_share_key_heads_in_llamas_shape() -> None:
    call = capture(load("stories-llama"), "A cat.").call(0)
    assert (call.n_heads, call.inputs.n_kv_heads) == (6, 2)


def test_the_examples_of_the_app_go_on_as_they_should(lm: LoadedModel) -> None:
    went = "When Mary and John went to the store, John gave a book to"
    assert best_word(lm, went) == " Mary"
    for adjective, right in (("tired", " animal"), ("wide", " street")):
        told = f"The animal didn't cross the street because it was too {adjective}."
        assert best_word(lm, f"{told} What was too {adjective}? The") == right
    written = capture(lm, "Once upon a time there was a", generate=12).tokens
    text = lm.tokenizer.decode(written.ids.tolist(), skip_special_tokens=True)
    assert any(kid in text for kid in ("girl", "boy", *words.ANIMALS)), text


def test_scores_of_heads_equal_those_of_eager_attention(lm: LoadedModel) -> None:
    ids = decoders.repeated_tokens(np.random.default_rng(4), len(lm.tokenizer), 3, 11)
    found = decoders.copy_scores(lm, ids)
    weights = eager_attention(lm, torch.from_numpy(ids)).mean(axis=1)
    # bos, t1 … t11, t1 … t11: the token at 12 came first at 1, and was followed by the one at 2
    for query in range(12, 22):
        assert (ids[:, query] == ids[:, query - 11]).all()
    induction = np.mean([weights[:, :, query, query - 10] for query in range(12, 22)], axis=0)
    previous = np.mean([weights[:, :, query, query - 1] for query in range(2, 23)], axis=0)
    np.testing.assert_allclose(found.induction, induction, atol=1e-5)
    np.testing.assert_allclose(found.previous, previous, atol=1e-5)


def test_likelihoods_in_a_padded_batch_equal_those_of_single_passes(lm: LoadedModel) -> None:
    pairs = [
        ("The capital of France is", " Paris"),
        ("Tom went to", " the grandmother's Portuguese castle"),
        ("One day, Lily and Tom went to the market, and Tom gave a", " ball"),
    ]
    ours = decoders.log_likelihoods(lm, pairs)
    theirs = [log_p_of(lm, prompt, continuation) for prompt, continuation in pairs]
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    text = "".join(pairs[1])
    n_tokens = len(lm.tokenizer(text, add_special_tokens=False)["input_ids"])
    expected = -log_p_of(lm, "", text) / n_tokens
    assert decoders.mean_loss(lm, [text]) == pytest.approx(expected, abs=1e-4)


def test_a_share_counts_the_prompts_that_come_out_right(lm: LoadedModel) -> None:
    sure = [Choice("The capital of France is", " Paris", " the"), Choice("2 + 2 =", " 4", " Tom")]
    mixed_up = [Choice(choice.prompt, choice.wrong, choice.right) for choice in sure]
    assert decoders.choice_accuracy(lm, sure) == 1.0
    assert decoders.choice_accuracy(lm, mixed_up) == 0.0
    assert decoders.choice_accuracy(lm, [*sure, *mixed_up]) == 0.5
    land = "The capital of Japan is"
    assert decoders.greedy_accuracy(lm, [(land, " Tokyo"), (land, " Paris")]) == 0.5


def test_where_the_last_token_looks_equals_eager_attention(lm: LoadedModel) -> None:
    prompts = ("When Mary and John went to the store, John gave a book to", "Lily met Tom. Tom")
    choices = [Choice(prompts[0], " Mary", " John"), Choice(prompts[1], " Tom", " Lily")]
    found = decoders.candidate_weights(lm, choices)
    ids = lm.tokenizer(prompts[0], return_tensors="pt")["input_ids"]
    last = eager_attention(lm, ids)[:, 0, :, -1]
    spelled = [lm.tokenizer.decode([token]) for token in ids[0].tolist()]
    mary = [n for n, word in enumerate(spelled) if word == " Mary"]
    john = [n for n, word in enumerate(spelled) if word == " John"]
    assert (len(mary), len(john)) == (1, 2)
    np.testing.assert_allclose(found.right[0], last[..., mary].sum(-1), atol=1e-5)
    np.testing.assert_allclose(found.wrong[0], last[..., john].sum(-1), atol=1e-5)
    for head in (HeadId(0, 0), HeadId(3, 2)):
        preferred = found.right[:, head.layer, head.head] > found.wrong[:, head.layer, head.head]
        assert found.accuracy(head) == preferred.mean()


@pytest.mark.parametrize("text", checks.HOSTILE)
def test_any_text_comes_back_from_the_tokenizer(lm: LoadedModel, text: str) -> None:
    ids = lm.tokenizer(text, add_special_tokens=False)["input_ids"]
    assert lm.tokenizer.decode(ids) == text
    assert lm.tokenizer(text)["input_ids"] == [0, *ids]


def test_names_and_candidates_are_single_tokens(lm: LoadedModel) -> None:
    for word in (*words.NAMES, "animal", "street", "it", "because"):
        assert len(lm.tokenizer(f" {word}", add_special_tokens=False)["input_ids"]) == 1, word


def test_the_samples_are_what_the_model_writes(lm: LoadedModel) -> None:
    samples = cards.read(folder_of(lm)).description.samples
    assert len(samples) == len(checks.STARTS) == 10
    for sample, start in zip(samples, checks.STARTS, strict=True):
        assert sample.startswith(start) and len(sample) > len(start) + 20
