"""The measure of alignment, on weights that a test writes itself."""

from dataclasses import dataclass

import numpy as np
import pytest

from attnviz.checks import encoder_decoders
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.types import HeadId
from attnviz.worlds.cases import AlignedPair

# ab cd → x yz: the second target word comes from the first source word
CASE = AlignedPair("May 3 1999", "1999-05-03", (((0, 3), (5, 7)), ((6, 10), (0, 1))))


@dataclass
class AblationKind:
    """Stands in for a capture: the weights of two layers with two heads."""

    weights: np.ndarray

    def all_weights(self, batch: int, kind: str, stack: str) -> np.ndarray:
        assert (batch, kind, stack) == (0, "cross", "decoder")
        return self.weights


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return load("dates")


def test_a_row_is_right_when_its_strongest_token_is(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = (
        encoder_decoders.token_spans(model, text) for text in (CASE.source, CASE.target)
    )
    n_source, n_target = len(source), len(target)
    weights = np.full((2, 2, n_target, n_source), 0.01, dtype=np.float32)
    may = next(n for n, place in enumerate(source) if place[1] == 3)
    month = next(n for n, (start, end) in enumerate(target) if start <= 5 < end)
    weights[1, 0, month, may] = 0.9  # L1.H0 finds the month
    weights[1, 0, 0, n_source - 2] = 0.9  # and, for the year, its last digit
    weights[0, 1, 0, may] = 0.9  # L0.H1 finds the month for the year: wrong
    monkeypatch.setattr(encoder_decoders, "capture", lambda *_, **__: AblationKind(weights))
    found = encoder_decoders.accuracy(model, [CASE])
    assert found.heads.tolist() == [[0.5, 0.5], [1.0, 0.5]]
    assert found.best_head == HeadId(1, 0) and found.best == 1.0
    assert found.means.tolist() == [0.5, 1.0]
    assert found.n_links == 2
    # one of the tokens for May, four for 1999
    assert found.chance == pytest.approx((1 + 4) / 2 / n_source)
