"""A measure of a caller's own: a function of the model's output, and tokens that are none."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import attnviz
from attnviz.errors import BadInput
from attnviz.experiment.readouts import token_id
from attnviz.models.loaded_model import LoadedModel

TEXT = "Lily gave the red ball to"


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


def test_a_function_of_the_output_is_measured(stories: LoadedModel) -> None:
    def lead(output: Any) -> Any:
        return output["logits"][:, -1, 5] - output["logits"][:, -1, 7]

    own = attnviz.experiment(stories, TEXT, on=lead).effects(to="zero", heads=["L0.H0"])
    same = attnviz.NextToken(5, against=7)
    known = attnviz.experiment(stories, TEXT, on=same).effects(to="zero", heads=["L0.H0"])
    assert own.unit == "own measure"
    assert own.of("L0.H0") == pytest.approx(known.of("L0.H0"), abs=1e-5)


@pytest.mark.parametrize(
    ("own", "found"),
    [
        (lambda output: output["logits"][0, -1, 5], r"Tensor \[\]"),
        (lambda output: output["logits"][:, -1], r"Tensor \[1, \d+\]"),
        (lambda output: float(output["logits"][0, -1, 5]), r"float \[\]"),
    ],
)
def test_a_function_that_gives_no_number_for_each_row_is_refused(
    stories: LoadedModel, own: Callable[[Any], Any], found: str
) -> None:
    with pytest.raises(BadInput, match=f"returned {found}: it has to give one number") as error:
        attnviz.experiment(stories, TEXT, on=own).effects(to="zero", heads=["L0.H0"])
    assert error.value.code == "bad_measure"


def test_a_word_that_is_a_token_with_its_space_is_named(stories: LoadedModel) -> None:
    with pytest.raises(BadInput, match="with the space before it, ' ball', it is one"):
        attnviz.experiment(stories, TEXT, on=attnviz.NextToken("ball")).effects(to="zero")
    with pytest.raises(BadInput, match="give one of them$"):
        attnviz.experiment(stories, TEXT, on=attnviz.NextToken("zxqj vwk")).effects(to="zero")


def test_a_word_without_its_space_is_another_token_and_says_so(stories: LoadedModel) -> None:
    lm, whole = stories, token_id(stories, " Mary", 10**6)
    bare = next(
        word
        for word in ("Mary", "Tom", "The", "He", "She", "I", "A")
        if len(lm.tokenize(word, add_special_tokens=False)["input_ids"]) == 1
    )
    with pytest.warns(UserWarning, match=f"{bare!r} is a token without a space.*' {bare}'"):
        assert token_id(lm, bare, 10**6) != token_id(lm, f" {bare}", 10**6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert token_id(lm, " Mary", 10**6) == whole
        token_id(lm, ".", 10**6)


def test_a_module_that_reads_tensors_is_not_asked_for_texts() -> None:
    lm = attnviz.load(torch.nn.TransformerEncoderLayer(8, 2, batch_first=True).eval())

    def first(output: Any) -> Any:
        return output["output"][:, 0, 0]

    inputs = {"src": torch.ones(1, 3, 8)}
    with pytest.raises(BadInput, match=r'it reads no text: take heads away with to="zero"$'):
        attnviz.experiment(lm, on=first, inputs=inputs).effects()
    assert attnviz.experiment(lm, on=first, inputs=inputs).effects(to="zero").heads
