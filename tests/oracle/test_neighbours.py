"""t-SNE of one head: AttentionViz' normalisation keeps attention; what is kept is printed."""

import numpy as np
import pytest

import attnviz
from attnviz import BadInput, LoadedModel
from attnviz.attention.inputs import AttentionInputs
from attnviz.corpus import neighbours as module
from attnviz.corpus.neighbours import neighbours, normalised, rank_correlation
from attnviz.errors import TooLarge
from attnviz.types import HeadId

TEXTS = [
    "The cat sat on the mat because it was tired.",
    "Mary gave the red ball to John, and John gave it to Tom.",
]


@pytest.fixture(scope="module", params=["minilm", "stories-llama"])
def lm(request: pytest.FixtureRequest) -> LoadedModel:
    return attnviz.load(request.param)


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def test_normalised_queries_and_keys_give_the_attention_of_the_model(lm: LoadedModel) -> None:
    cap = attnviz.capture(lm, TEXTS[1])
    for layer in range(cap.n_layers):
        inputs = cap.call(layer).inputs
        assert isinstance(inputs, AttentionInputs)
        for head in range(0, inputs.n_heads, 3):
            query, key = (side.numpy() for side in inputs.qkv(head)[:2])
            asks, answers = normalised(query, key)
            lengths = [np.median(np.linalg.norm(side, axis=1)) for side in (asks, answers)]
            assert np.allclose(asks.mean(axis=0), answers.mean(axis=0))
            visible = cap.call(layer).visible().numpy()
            scores = np.where(visible, inputs.scaling * asks @ answers.T, -np.inf)
            assert np.abs(softmax(scores) - cap.weights(HeadId(layer, head))).max() < 1e-5
            assert 0.2 < lengths[0] / lengths[1] < 5  # equal before the keys moved
    moved = asks + (answers.mean(axis=0) - 2 * asks.mean(axis=0))
    other = softmax(np.where(visible, inputs.scaling * moved @ answers.T, -np.inf))
    assert np.abs(other - softmax(scores)).max() > 1e-3, "queries may not move"


@pytest.mark.some(1)
def test_tsne_places_every_token_and_says_what_it_and_the_plane_keep(
    lm: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ITERATIONS", 100)
    seen: list[int] = []
    drawn = attnviz.embed(lm, TEXTS, method="tsne", head="L2.H1", progress=seen.append)
    caps = [attnviz.capture(lm, text) for text in TEXTS]
    lengths = sorted(len(cap.tokens) for cap in caps)
    assert sorted(np.bincount(drawn.text_of).tolist()) == lengths
    assert drawn.queries.shape == drawn.keys.shape == (sum(lengths), 2)
    assert seen[-1] == 2 and np.isfinite(drawn.queries).all()
    assert -1 <= drawn.kept <= 1 and drawn.kept_by_plane > 0.3
    assert drawn.rotated == (lm.name == "stories-llama")
    assert "nearness agrees" in repr(drawn)
    again = neighbours(caps, drawn.head, seed=0)
    assert again.kept_by_plane == pytest.approx(drawn.kept_by_plane, abs=1e-5)
    assert np.array_equal(again.queries, neighbours(caps, drawn.head, seed=0).queries)


def test_rank_correlation_is_spearmans() -> None:
    rising = np.array([1.0, 2.0, 3.0])
    assert rank_correlation(rising, np.array([10.0, 20.0, 90.0])) == pytest.approx(1)
    assert rank_correlation(rising, np.array([9.0, 5.0, 1.0])) == pytest.approx(-1)
    # ranks 1.5 1.5 3 and 1 2 3: covariance 1.5, variances 1.5 and 2
    assert rank_correlation(np.array([4.0, 4.0, 5.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx(
        1.5 / np.sqrt(1.5 * 2)
    )
    assert np.isnan(rank_correlation(np.ones(3), np.arange(3.0)))


def test_what_tsne_cannot_draw_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="head is None"):
        attnviz.embed("stories", TEXTS, method="tsne")  # type: ignore[call-overload]
    with pytest.raises(BadInput, match="head is L0.H0"):
        attnviz.embed("stories", TEXTS, head="L0.H0")  # type: ignore[call-overload]
    with pytest.raises(BadInput, match="method is 'umap'"):
        attnviz.embed("stories", TEXTS, method="umap")  # type: ignore[call-overload]
    with pytest.raises(BadInput, match="no head L9"):
        attnviz.embed("stories", TEXTS, method="tsne", head="L9.H0")
    with pytest.raises(BadInput, match="8 tokens and more"):
        attnviz.embed("stories", ["A dog."], method="tsne", head="L0.H0")
    monkeypatch.setattr(module, "MAX_TOKENS", 9)
    with pytest.raises(TooLarge, match="at most 9 tokens"):
        attnviz.embed("stories", TEXTS, method="tsne", head="L0.H0")
