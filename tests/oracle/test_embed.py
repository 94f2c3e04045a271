"""The map of queries and keys against the truncated SVD of the whole score matrix, by numpy."""

import numpy as np
import pytest

import attnviz
from attnviz import BadInput, LoadedModel
from attnviz.attention.inputs import AttentionInputs
from attnviz.corpus.embed import embed_captures
from attnviz.errors import UnsupportedAttention
from attnviz.metrics.patterns import counted_queries
from attnviz.worlds import shapes

TEXTS = [
    "The cat sat on the mat because it was tired.",
    "Mary gave the red ball to John, and John gave it to Tom.",
    "Anna has two cakes.",
]


@pytest.fixture(scope="module", params=["minilm", "stories", "stories-llama"])
def lm(request: pytest.FixtureRequest) -> LoadedModel:
    return attnviz.load(request.param)


def scores(cap: attnviz.Capture, layer: int, head: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """The scaled scores of all words with all words of all texts, keys centred; masks of words."""
    call = cap.call(layer)
    assert isinstance(call.inputs, AttentionInputs)
    words = [counted_queries(cap.tokens_of(row)) for row in range(cap.n_batch)]
    sides = [
        np.concatenate(
            [call.inputs.qkv(head, row)[side].numpy()[words[row]] for row in range(cap.n_batch)]
        ).astype(np.float64)
        for side in (0, 1)
    ]
    return call.inputs.scaling * sides[0] @ (sides[1] - sides[1].mean(0)).T, words


def test_inner_products_are_the_truncated_svd_of_the_scores(lm: LoadedModel) -> None:
    cap = attnviz.capture(lm, TEXTS)
    maps = embed_captures([cap])
    places = [maps.place(cap, row) for row in range(cap.n_batch)]
    assert maps.n_text == 3
    for head in (maps.heads[0], maps.heads[len(maps.heads) // 2], maps.heads[-1]):
        matrix, words = scores(cap, head.layer, head.head)
        left, singular, right = np.linalg.svd(matrix)
        best = (left[:, :2] * singular[:2]) @ right[:2]
        row = maps.row(head)
        x = np.concatenate([p.queries[row][w] for p, w in zip(places, words, strict=True)])
        y = np.concatenate([p.keys[row][w] for p, w in zip(places, words, strict=True)])
        assert np.abs(x @ y.T - best).max() <= 1e-5 * np.abs(best).max()
        assert maps.kept(head) == pytest.approx((singular[:2] ** 2).sum() / (matrix**2).sum())
        assert (x.sum(0) >= -1e-4).all(), "the mean query looks right and up"
        common = len(matrix) * (matrix.mean(0) ** 2).sum() / (matrix**2).sum()
        assert maps.table()["popularity"][row] == pytest.approx(common)
    assert maps.rotated == (lm.name == "stories-llama")


def test_the_map_is_the_same_from_one_pass_in_any_batches(lm: LoadedModel) -> None:
    whole = attnviz.embed(lm, TEXTS)
    parts = embed_captures(attnviz.capture(lm, text) for text in reversed(TEXTS))
    assert np.allclose(whole.table()["kept"], parts.table()["kept"], atol=1e-6)
    new = attnviz.capture(lm, "A dog ate the green apple.")
    one, other = whole.place(new), parts.place(new)
    assert np.allclose(
        np.einsum("hqa,hka->hqk", one.queries, one.keys),
        np.einsum("hqa,hka->hqk", other.queries, other.keys),
        atol=1e-3,
    )
    assert one.queries.shape == (len(whole.heads), len(new.tokens), 2)


def test_patches_of_pictures_are_placed_as_words_are() -> None:
    lm = attnviz.load("shapes")
    pictures = [shapes.sample(seed).picture(64) for seed in range(3)]
    maps = attnviz.embed(lm, pictures)
    cap = attnviz.capture(lm, image=pictures)
    matrix, words = scores(cap, 0, 1)
    singular = np.linalg.svd(matrix, compute_uv=False)
    assert maps.kept("L0.H1") == pytest.approx((singular[:2] ** 2).sum() / (singular**2).sum())
    assert maps.n_token == sum(map(np.sum, words))


def test_what_cannot_be_drawn_is_refused(lm: LoadedModel) -> None:
    with pytest.raises(BadInput, match="no word"):
        attnviz.embed(lm, ["", "  "])
    with pytest.raises(BadInput, match="no head L99"):
        attnviz.embed(lm, TEXTS).kept("L99.H0")
    with pytest.raises(BadInput, match="plain texts"):
        attnviz.embed("translator", TEXTS)
    cap = attnviz.capture("translator", "the beautiful meat.", target="la belle viande.")
    with pytest.raises(BadInput, match="is by translator"):
        attnviz.embed(lm, TEXTS).place(cap)
    weights = attnviz.capture(lm, "A dog.").all_weights()
    stored = attnviz.from_attentions(list(weights[:, None]), ["a"] * weights.shape[-1])
    with pytest.raises(UnsupportedAttention, match="q and k are not known"):
        embed_captures([stored])
