"""A pass that is given up between two layers leaves its model as it was."""

import pytest
import torch

import attnviz
from attnviz.capture.request import Request
from attnviz.capture.run import capture_request
from attnviz.models.loaded_model import LoadedModel

TEXT = "a dog bites a man"


class Gone(BaseException):
    """What Streamlit raises where a tab was closed."""


class Visitor:
    """Leaves after so many checks."""

    def __init__(self, patience: int) -> None:
        self.n_checks, self.patience = 0, patience

    def check(self) -> None:
        self.n_checks += 1
        if self.n_checks > self.patience:
            raise Gone


def test_a_pass_is_checked_before_each_layer_and_gives_the_same_numbers(
    minilm: LoadedModel,
) -> None:
    visitor = Visitor(patience=100)
    checked = capture_request(minilm, Request.of(TEXT), check=visitor.check)
    assert visitor.n_checks == minilm.n_layers
    plain = attnviz.capture(minilm, TEXT)
    assert torch.equal(checked.call(5).output, plain.call(5).output)


def test_a_pass_ends_where_its_visitor_leaves(minilm: LoadedModel) -> None:
    before = attnviz.capture(minilm, TEXT)
    visitor = Visitor(patience=2)
    with pytest.raises(Gone):
        capture_request(minilm, Request.of(TEXT), check=visitor.check)
    assert visitor.n_checks == 3
    assert not minilm.lock._is_owned()  # type: ignore[attr-defined]
    after = attnviz.capture(minilm, TEXT)
    assert visitor.n_checks == 3
    assert torch.equal(before.call(5).output, after.call(5).output)


def test_a_model_that_writes_is_checked_at_each_token() -> None:
    stories = attnviz.load("stories")
    visitor = Visitor(patience=100)
    request = Request.of("One day", generate=4)
    capture_request(stories, request, check=visitor.check)
    assert visitor.n_checks >= 4 * stories.n_layers
