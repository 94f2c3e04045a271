"""`vocabulary`: sums over all tokens, where one table embeds and unembeds, and where two do."""

import pytest
import torch

from attnviz.experiment.weights_alone import vocabulary
from attnviz.experiment.weights_alone.norms import Norm
from attnviz.experiment.weights_alone.vocabulary import Unembedding, Words, products_of

N, WIDTH = 211, 17


def test_products_of_blocks_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """By columns that do not divide the width; in float64, where the sums' order hardly counts."""
    monkeypatch.setattr(vocabulary, "COLUMNS", 5)
    x = torch.randn(N, WIDTH, generator=torch.Generator().manual_seed(2)).double()
    ours = products_of(x.split(64))
    assert ours.numpy() == pytest.approx((x.T @ x).numpy(), abs=1e-11)
    assert torch.equal(ours, ours.T)


def test_one_table_for_both_ends_gives_what_two_equal_ones_give() -> None:
    """W_U·W_E of a tied model whose embedding is scaled, beside the product written out."""
    table = torch.randn(N, WIDTH, generator=torch.Generator().manual_seed(3)) + 0.5
    scale = torch.linspace(0.5, 4, WIDTH)
    words = Words(N, lambda which: table[which] * scale, (table, scale))
    last = Norm("layer norm", torch.linspace(1, 2, WIDTH))
    tied, apart = (Unembedding(last, weight.T) for weight in (table, table.clone()))
    logits = table - table.mean(0)
    rows = table * scale
    wanted = last.before(logits.T @ (rows - rows.mean(0)))
    assert tied.times(words).numpy() == pytest.approx(wanted.numpy(), abs=2e-3)
    assert apart.times(words).numpy() == pytest.approx(wanted.numpy(), abs=2e-3)
    assert "products" in vars(words)  # the tied one took them
