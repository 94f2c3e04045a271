"""`vector_of`: the vector of a text that others are compared with, run once for many runs."""

from dataclasses import replace

import pytest
import torch

import attnviz
from attnviz.capture.request import Request
from attnviz.experiment import changed_run, clean_run
from attnviz.experiment.answers import answer_of
from attnviz.experiment.clean_run import CleanRun, prepare_request
from attnviz.models.loaded_model import LoadedModel

OTHER = "A girl fed the small bird."


@pytest.fixture(scope="module")
def lm() -> LoadedModel:
    return attnviz.load("minilm")


@pytest.fixture
def passes(lm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the model was run on from now on."""
    seen: list[object] = []
    forward = lm.model.forward

    def counted(*arguments: object, **options: object) -> object:
        seen.append(options.get("input_ids"))
        return forward(*arguments, **options)

    monkeypatch.setattr(lm.model, "forward", counted)
    return seen


def run_of(lm: LoadedModel, text: str) -> CleanRun:
    return prepare_request(lm, Request.of(text))


def test_the_vector_is_that_of_the_text_alone(lm: LoadedModel) -> None:
    found = run_of(lm, "The cat saw a dog.").vector_of(OTHER)
    hidden = run_of(lm, OTHER).clean["last_hidden_state"][0]
    mean = hidden.mean(0)
    torch.testing.assert_close(found[0], mean / mean.norm(), atol=1e-6, rtol=1e-5)


def test_runs_with_the_same_vectors_run_the_other_text_once(
    lm: LoadedModel, passes: list[object]
) -> None:
    vectors: dict[str, torch.Tensor] = {}
    first, second = (
        replace(run_of(lm, text), vectors=vectors) for text in ("One cat.", "Two dogs.")
    )
    passes.clear()
    numbers = answer_of(first, (OTHER,)).clean, answer_of(second, (OTHER,)).clean
    assert len(passes) == 1
    alone = answer_of(run_of(lm, "Two dogs."), (OTHER,)).clean
    assert numbers[1].tolist() == alone.tolist() != numbers[0].tolist()


def test_few_vectors_are_kept(lm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean_run, "MAX_VECTORS", 2)
    run = run_of(lm, "The cat saw a dog.")
    for text in ("One.", "Two.", "Three."):
        run.vector_of(text)
    assert [*run.vectors] == ["Two.", "Three."]


def test_nothing_changed_is_the_clean_pass(lm: LoadedModel, passes: list[object]) -> None:
    run = run_of(lm, "The cat saw a dog.")
    reader = answer_of(run, (OTHER,))
    passes.clear()
    rows = changed_run.read_sets(run, reader.read, [])
    assert not passes
    assert rows.tolist() == [reader.clean.double().tolist()]
