"""Where an answer or a state came from: shares of tokens against their formulas and the truth."""

import numpy as np
import pytest
import torch

import attnviz
from attnviz.errors import BadInput
from attnviz.experiment.answer_measures import AnswerMeasure, Class, Target
from attnviz.experiment.correlations import spearman
from attnviz.experiment.traced_run import traced_run
from attnviz.models.loaded_model import LoadedModel
from tests.support.questions import CASES, CAT, MARY, REVIEW, STORE

SHARE = 1e-5  # Σ of parts is held to this share of their size


# --- from where -----------------------------------------------------------------------------------


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("name", "text", "on"),
    [CASES[0], CASES[2], CASES[6], CASES[7]],
)
def test_the_frozen_pass_is_a_complete_split_over_tokens(
    name: str, text: str, on: AnswerMeasure
) -> None:
    found = attnviz.experiment(attnviz.load(name), text, on=on).tokens()
    size = np.abs(found.frozen.tokens).sum() + abs(found.frozen.biases)
    assert found.frozen.error <= SHARE * size
    assert found.frozen.rest == 0.0
    for method in ("alti", "norms", "rollout", "weights"):
        assert found.scores[method].sum() == pytest.approx(1.0, abs=1e-4)  # type: ignore[index]
        assert found.scores[method].min() >= 0  # type: ignore[index]
    assert set(found.agreement) == set(found.scores) - {"hidden"}


def test_hidden_tokens_are_rows_with_that_key_masked() -> None:
    lm = attnviz.load("sentiment")
    found = attnviz.experiment(lm, REVIEW, on=Class("negative", against="positive")).tokens()
    encoded = lm.text_tokenizer()(REVIEW, return_tensors="pt")
    with torch.no_grad():
        plain = lm.model(**encoded).logits[0]
        for at in (4, 5):
            mask = encoded["attention_mask"].clone()
            mask[0, at] = 0
            logits = lm.model(**(encoded | {"attention_mask": mask})).logits[0]
            change = float((logits[0] - logits[1]) - (plain[0] - plain[1]))
            assert found.scores["hidden"][at] == pytest.approx(change, abs=1e-4)
        ids = encoded["input_ids"].clone()
        ids[0, 4] = lm.text_tokenizer().mask_token_id
        logits = lm.model(**(encoded | {"input_ids": ids})).logits[0]
        change = float((logits[0] - logits[1]) - (plain[0] - plain[1]))
        assert found.scores["masked"][4] == pytest.approx(change, abs=1e-4)
    assert found.tokens.labels[found.strongest("hidden")] == "not"


def test_rollout_is_abnar_and_zuidemas_product() -> None:
    lm = attnviz.load("stories")
    found = attnviz.experiment(lm, STORE, on=MARY).tokens()
    out = np.eye(15)
    for layer in range(4):
        mean = attnviz.capture(lm, STORE).weights(layer).astype(np.float64).mean(0)
        out = (0.5 * mean + 0.5 * np.eye(15)) @ out
    assert np.allclose(found.scores["rollout"], out[-1], atol=1e-6)  # the last position is read


def test_norms_and_alti_are_their_formulas_in_a_post_norm_layer(minilm: LoadedModel) -> None:
    """The last layer of a one-layer read: T by names, norms and ALTI by their papers."""
    from attnviz.experiment import token_shares

    run = traced_run(attnviz.experiment(minilm, CAT).prepared)
    one = type(run)(run.prepared, run.calls[-1:], run.trace, run.output)
    norms, alti = token_shares.norm_and_alti(one)
    layer = minilm.model.encoder.layer[5].attention
    x = run.trace.inputs_of["encoder.layer.5.attention"][0]
    assert x is not None
    with torch.no_grad():
        hidden = x.tensor[0]
        v = layer.self.value(hidden).reshape(len(hidden), 12, -1)
        weights = torch.from_numpy(attnviz.capture(minilm, CAT).weights(5))
        rows = layer.output.dense.weight.T.reshape(12, v.shape[2], -1)
        brought = torch.einsum("hqk,khd,hdm->qkm", weights, v, rows)
        brought += torch.eye(len(hidden))[:, :, None] * hidden[None]
        whole = brought.sum(1) + layer.output.dense.bias
        scale = (whole.var(-1, unbiased=False, keepdim=True) + 1e-12).rsqrt()
        gamma = layer.output.LayerNorm.weight
        brought = (brought - brought.mean(-1, keepdim=True)) * scale[:, None] * gamma
        y = layer.output.LayerNorm(whole)
        sizes = brought.norm(dim=-1)
        near = (y.abs().sum(-1)[:, None] - (y[:, None] - brought).abs().sum(-1)).clamp(min=0)
    assert np.allclose(norms, (sizes / sizes.sum(-1, keepdim=True)).numpy(), atol=1e-5)
    assert np.allclose(alti, (near / near.sum(-1, keepdim=True)).numpy(), atol=1e-5)


def test_ranked_is_spearmans_correlation_with_ties() -> None:
    one = np.array([1.0, 2.0, 2.0, 5.0, 0.0])
    # ranks 2, 3.5, 3.5, 5, 1 and 1, 2, 3, 5, 4
    other = np.array([0.1, 0.2, 0.3, 9.0, 0.4])
    left, right = np.array([2, 3.5, 3.5, 5, 1]), np.array([1, 2, 3, 5, 4])
    assert spearman(one, other) == pytest.approx(float(np.corrcoef(left, right)[0, 1]))
    assert np.isnan(spearman(one, np.ones(5)))


def test_several_stacks_are_refused_where_one_text_is_followed() -> None:
    with pytest.raises(BadInput, match="does not read one text"):
        attnviz.experiment(attnviz.load("translator"), "the cat .", on=Target("le chat .")).tokens()


def test_a_capture_rolls_out_what_the_experiment_does() -> None:
    """`cap.rollout()` and the method "rollout" are one computation; flow is at most a column."""
    cap = attnviz.capture("stories", "Lily gave the red ball to")
    on = attnviz.NextToken(" Tom", against=" Mary")
    scores = attnviz.experiment("stories", "Lily gave the red ball to", on=on).tokens().scores
    assert cap.rollout()[-1] == pytest.approx(scores["rollout"], abs=1e-6)
    means = [0.5 * cap.weights(layer).mean(0) + 0.5 * np.eye(len(cap.tokens)) for layer in range(4)]
    whole = means[3] @ means[2] @ means[1] @ means[0]
    assert cap.rollout() == pytest.approx(whole, abs=1e-6)
    assert (cap.flow() >= whole[-1] - 1e-6).all()  # a way that carries all of it may carry more
    assert cap.flow(query=0) == pytest.approx([1, *[0] * (len(cap.tokens) - 1)])
