"""`views.switchboard`: numbers of an answer that moved by very little."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from attnviz.experiment.answers import AnswerKind, AnswerReader
from attnviz.pictures.group.answers import (
    amount,
    control_sentence,
    cosine,
    lead_sentence,
    leads,
    least_that_matters,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0.0000"), (2e-5, "<0.0001"), (0.0123, "0.0123"), (0.00006, "0.0001")],
)
def test_a_small_move_is_not_printed_as_none(value: float, shown: str) -> None:
    assert amount("en", value, "number") == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1.0000"), (0.99998, ">0.9999"), (0.9912, "0.9912")]
)
def test_a_cosine_below_one_is_not_printed_as_one(value: float, shown: str) -> None:
    assert cosine("en", value) == shown


@pytest.mark.parametrize(
    ("kind", "moved"),
    [
        ("next_token", "20.0 percentage points of probability that go to other answers"),
        ("target", "20.0 percentage points on average"),
        ("vectors", "0.2000"),
    ],
)
def test_only_one_distribution_moves_by_a_share_of_the_probability(
    kind: AnswerKind, moved: str
) -> None:
    before = np.array([0.6, 0.4])
    result: Any = SimpleNamespace(
        before=before, after=np.array([0.4, 0.6]), controls=np.array([[0.6, 0.4]])
    )
    answer = AnswerReader(kind, lambda output: output.logits, torch.tensor(before))
    sentence = control_sentence("en", answer, result, "switchboard", n=1)
    assert sentence.startswith(f"Moved by {moved}. Control")


def test_two_draws_have_no_median_and_no_most() -> None:
    before = np.array([0.6, 0.4])
    controls = np.array([[0.5, 0.5], [0.58, 0.42], [0.3, 0.7]])
    answer = AnswerReader("next_token", lambda output: output.logits, torch.tensor(before))
    two: Any = SimpleNamespace(before=before, after=np.array([0.4, 0.6]), controls=controls[:2])
    said = control_sentence("en", answer, two, "switchboard.measured", n=1)
    assert said.endswith("in the same way: 2.0 points and 10.0 points.")
    three: Any = SimpleNamespace(before=before, after=np.array([0.4, 0.6]), controls=controls)
    said = control_sentence("en", answer, three, "switchboard.measured", n=1)
    assert said.endswith("10.0 points at the median, 30.0 points at most.")


def test_a_nearly_certain_answer_tells_its_lead_beside_its_probability() -> None:
    """99 % against 0.5 % is a lead of ln(198) = 5.3; 90 % against 9 % of 2.3."""
    before = np.array([0.99, 0.005, 0.005])
    result: Any = SimpleNamespace(before=before, after=np.array([0.9, 0.09, 0.01]))
    rows = np.array([[0.98, 0.01, 0.01], [0.5, 0.25, 0.25], [0.97, 0.015, 0.015]])
    names = ("Mary", "John", "Tom")
    answer = AnswerReader(
        "next_token", lambda output: output.logits, torch.tensor(before), names=names
    )
    prepared: Any = None
    controls = leads(answer, rows).tolist()
    sentence = lead_sentence("en", prepared, answer, result, controls)
    assert "the logit of Mary minus that of John goes from +5.3 to +2.3" in sentence
    # ln 98 = 4.6, ln 2 = 0.7, ln(97 ÷ 1.5) = 4.2
    assert sentence.endswith("it is +4.2 at the median, +0.7 at the least.")
    result.before = np.array([0.8, 0.1, 0.1])
    assert lead_sentence("en", prepared, answer, result, controls) == ""


def test_a_head_that_hardly_moves_a_probability_does_not_matter() -> None:
    guess = {"exclusive": True, "clean": np.array([0.9, 0.1])}
    words = SimpleNamespace(is_probability=True, **guess)
    cosines = SimpleNamespace(is_probability=False, exclusive=False)
    tiny = np.array([0.0, 1e-6, 3e-4])
    assert least_that_matters(words, tiny, 0.0) == 0.005  # type: ignore[arg-type]
    assert least_that_matters(cosines, tiny, 0.0) == 1e-4  # type: ignore[arg-type]
    # beside others: three times the median, a twentieth of the most, the spread of the draws
    for sizes, spread, least in (
        (np.array([0.02, 0.03, 0.2]), 0.0, 0.09),
        (np.array([0.0, 0.0, 0.8]), 0.0, 0.04),
        (np.array([0.0, 0.0, 0.8]), 0.3, 0.3),
    ):
        assert least_that_matters(words, sizes, spread) == pytest.approx(least)  # type: ignore[arg-type]
