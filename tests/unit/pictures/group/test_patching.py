"""`views.patching`: the sentence on both answers."""

import pytest
import torch

from attnviz.experiment.answers import AnswerKind, AnswerReader
from attnviz.i18n import text
from attnviz.pictures.table.patching import answers_kind


def answer(kind: AnswerKind, *numbers: float) -> AnswerReader:
    return AnswerReader(kind, lambda output: output.logits, torch.tensor(numbers))


@pytest.mark.parametrize(
    ("left", "right", "ending"),
    [
        (answer("next_token", 0.9, 0.1), answer("next_token", 0.2, 0.8), ""),
        (answer("next_token", 0.9, 0.1), answer("next_token", 0.7, 0.3), "_same"),
        (answer("vectors", 1.0, 1.0), answer("vectors", 1.0, 1.0), "_cosine"),
    ],
)
def test_one_answer_to_both_texts_is_not_said_as_two(
    left: AnswerReader, right: AnswerReader, ending: str
) -> None:
    assert answers_kind(left, right) == ending
    values = {"left": "Mary", "right": "Mary", "before": "+1.00", "source": "+2.00"}
    sentence = text("en", f"patching.answers{answers_kind(left, right)}", **values)
    assert ("both" in sentence) == (ending == "_same")
