"""exercises, defence: code is held to the numbers of the cards, a claim to chance and control."""

import numpy as np
import pytest

from attnviz.errors import AttnVizError
from attnviz.teach.course import defence, exercises
from attnviz.teach.course.exercises import captured
from attnviz.types import HeadId


def right_attention(q, k, v, may_attend):  # type: ignore[no-untyped-def]
    scores = np.where(may_attend, q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = e / e.sum(axis=1, keepdims=True)
    return weights, weights @ v


def test_attention_takes_the_right_program() -> None:
    assert exercises.attention(right_attention).is_right


@pytest.mark.parametrize(
    ("own", "problem"),
    [
        (lambda *_: None, "it returns nothing yet"),
        (lambda *_: 1 / 0, "it raises ZeroDivisionError"),
        (lambda q, k, v, m: (q, v), "its shape is"),
        (lambda q, k, v, m: ("a", "b"), "it returns tuple"),
        (lambda q, k, v, m: right_attention(q, k, v, m.T), "the card"),
        (lambda q, k, v, m: right_attention(2 * q, k, v, m), "the card"),
    ],
)
def test_attention_says_what_is_wrong(own: exercises.Attention, problem: str) -> None:
    report = exercises.attention(own)
    assert not report.is_right and problem in repr(report)


def test_attention_finds_a_softmax_that_overflows() -> None:
    def plain(q, k, v, may_attend):  # type: ignore[no-untyped-def]
        e = np.exp(np.where(may_attend, q @ k.T / np.sqrt(q.shape[1]), -np.inf))
        weights = e / e.sum(axis=1, keepdims=True)
        return weights, weights @ v

    wrong = [line.what for line in exercises.attention(plain).lines if line.problem]
    assert wrong == ["scores of ten thousand do not overflow"]


def test_repaired_wants_both_repairs() -> None:
    def note(divisor: float, axis: int) -> exercises.ExerciseReport:
        def own(q, k):  # type: ignore[no-untyped-def]
            e = np.exp(q @ k.T / divisor)
            return e / e.sum(axis=axis, keepdims=True)

        return exercises.repaired(own)

    assert note(np.sqrt(3), 1).is_right
    for divisor, axis in ((3, 0), (np.sqrt(3), 0), (3, 1)):
        assert not note(divisor, axis).is_right


def test_defend_measures_against_chance_and_control() -> None:
    """The induction head of the lesson real on a repeat, and on a text on which it does nothing."""
    texts = ("kite hat dog cat kite hat", "One day a cat saw a dog. The cat")
    found = defence.defend(captured, "stories", HeadId(2, 1), "induction", texts)
    repeat, other = found.evidence
    plain = captured("stories", texts[0])
    rows = plain.weights(2, 1)
    assert repeat.share > 0.5 > repeat.chance and repeat.share > repeat.others
    assert repeat.share <= float(rows.max()) + 1e-6
    assert repeat.moved is not None and repeat.moved_others is not None
    assert found.against is other and found.n_above >= 1


def test_defend_of_a_model_without_an_answer_has_no_ablation() -> None:
    found = defence.defend(captured, "minilm", HeadId(3, 1), "previous", ["The cat sat."])
    assert found.evidence[0].moved is None and np.isfinite(found.evidence[0].share)


@pytest.mark.parametrize("texts", [(), ("", " "), ("a",) * 9])
def test_defend_refuses_no_text_and_too_many(texts: tuple[str, ...]) -> None:
    with pytest.raises(AttnVizError, match="texts"):
        defence.defend(captured, "stories", HeadId(0, 0), "previous", texts)
