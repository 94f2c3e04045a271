"""How the story decoders are trained: their tokenizer, their batches and what they start from."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from scripts.train import decoder, stories, stories_llama


@pytest.fixture(scope="module")
def source() -> decoder.Corpus:
    return decoder.corpus(seed=3, n_documents=400)


def test_every_document_begins_with_the_end_of_text(source: decoder.Corpus) -> None:
    starts = np.flatnonzero(source.tokens == 0)
    assert len(starts) == 400
    assert set(source.starts) <= set(starts)
    first = source.tokens[: starts[1]]
    text = source.tokenizer.decode(first.tolist(), skip_special_tokens=True)
    assert text == next(iter(decoder.stories.documents(3, 1)))


def test_the_tokenizer_spells_any_byte_and_gives_text_back(source: decoder.Corpus) -> None:
    text = "".join(map(chr, range(0x250))) + " 日本 👩‍👩‍👧 "
    ids = source.tokenizer(text, add_special_tokens=False)["input_ids"]
    assert source.tokenizer.decode(ids) == text
    assert len(source.tokenizer) <= decoder.VOCABULARY


def test_rows_are_text_or_tokens_that_repeat(source: decoder.Corpus) -> None:
    draws = np.random.default_rng(7)
    shapes = set()
    for share in (0.0, 1.0):
        for _ in range(20):
            rows = decoder.batch(source, draws, share)
            shapes.add(rows.shape)
            assert (rows[:, 0] == 0).all()
            periods = [_period(row[1:]) for row in rows]
            assert all((period is not None) == bool(share) for period in periods)
    assert shapes == {(32, 65), (8, 257)}


def _period(row: np.ndarray) -> int | None:
    """The distance at which a row repeats itself throughout; None for a row that does not."""
    return next((n for n in range(4, (len(row) + 1) // 2 + 1) if (row[n:] == row[:-n]).all()), None)


def test_the_same_draws_give_the_same_batch(source: decoder.Corpus) -> None:
    rows = [decoder.batch(source, np.random.default_rng((5, 9)), 0.4) for _ in range(2)]
    assert (rows[0] == rows[1]).all()
    assert (rows[0] != decoder.batch(source, np.random.default_rng((5, 9)), 0.6)[:32]).any()


@pytest.mark.parametrize("recipe", [stories, stories_llama], ids=["stories", "stories-llama"])
def test_a_fresh_model_knows_nothing_and_its_loss_is_the_mean(
    recipe: object, source: decoder.Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    model = recipe.build(len(source.tokenizer)).eval()
    rows = decoder.batch(source, np.random.default_rng(1), 0.4)
    monkeypatch.setattr(decoder, "batch", lambda *_: rows)
    with torch.no_grad():
        ours = decoder.loss(source, model, np.random.default_rng(1), 0.4)
        ids = torch.from_numpy(rows)
        logits = model(ids[:, :-1]).logits
    uniform = math.log(len(source.tokenizer))
    assert ours.item() == pytest.approx(uniform, abs=1.5)
    expected = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    assert ours.item() == pytest.approx(expected.item(), abs=0.2)


def test_waves_begin_at_two_tokens_and_end_at_512() -> None:
    table = stories.waves(513, 6)
    assert table.shape == (513, 6)
    # wavelengths 2, 32, 512; columns sin, sin, sin, cos, cos, cos
    expected = {1: (-1.0, 0), 2: (1.0, 0), 16: (-1.0, 1), 32: (1.0, 1), 256: (-1.0, 2)}
    for position, (cosine, wave) in expected.items():
        assert table[position, 3 + wave].item() == pytest.approx(cosine, abs=1e-3)
    assert table[8, 1].item() == pytest.approx(1.0, abs=1e-4)  # a quarter of 32


def test_all_embeddings_of_the_rotary_model_share_a_part() -> None:
    torch.manual_seed(0)
    rows = stories_llama.build(300).model.embed_tokens.weight[1:].detach()
    likeness = torch.corrcoef(rows)[0, 1:]
    assert likeness.mean() > 0.3
    torch.manual_seed(0)
    table = stories.build(300).transformer.wte.weight.detach()
    assert abs(torch.corrcoef(table)[0, 1:].mean()) < 0.05
