"""What a run measured outlives it: no result holds the run, its tensors or the model."""

import gc
from collections.abc import Callable
from types import FunctionType, ModuleType

import pytest
from torch import nn

import attnviz
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.run import Experiment
from attnviz.models.loaded_model import LoadedModel

GIVEN = "Mary and John went to the store. Mary gave a drink to"
SWAPPED = "Mary and John went to the store. John gave a drink to"
QUESTIONS: dict[str, Callable[[Experiment, Experiment], object]] = {
    "effects": lambda run, _: run.effects(to="zero"),
    "edges": lambda run, _: run.edges("L1.H1", cells=[(5, 1)]),
    "cuts": lambda run, _: run.cuts([("L1.H1", 5, 1)]),
    "patched_from": lambda run, other: run.patched_from(other, stages=["mixed"], draws=1),
}


def held(result: object) -> set[str]:
    """The names of the classes of runs and models that a result holds, over any distance."""
    found, seen, waiting = set[str](), set[int](), [result]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | ModuleType):
            continue
        seen.add(id(one))
        if isinstance(one, CleanRun | LoadedModel | nn.Module):
            found.add(type(one).__name__)
        elif isinstance(one, FunctionType):  # whose module holds all that was imported
            waiting += one.__closure__ or ()
        else:
            waiting += gc.get_referents(one)
    return found


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", ["stories", "minilm"])  # the answer is a token, or cosines
def test_a_result_holds_neither_run_nor_model(name: str, question: str) -> None:
    lm = attnviz.load(name)
    run, other = (attnviz.experiment(lm, text) for text in (GIVEN, SWAPPED))
    assert held(run) == {"CleanRun"}
    assert held(QUESTIONS[question](run, other)) == set()


@pytest.mark.parametrize("name", ["stories", "minilm", "sentiment"])
def test_an_answer_holds_no_run(name: str) -> None:
    answer = attnviz.experiment(name, GIVEN if name != "sentiment" else "the good dog").answer
    assert "CleanRun" not in held(answer)
