"""`answer_runs`: an answer is traced at once only for who splits it, and the trace is let go."""

from collections.abc import Iterator

import pytest

from attnviz.app.server import answer_runs, captures, sources
from attnviz.capture.request import Request
from attnviz.experiment.traced_run import traced_run
from attnviz.pictures.group.app_capture import AppCapture

LONG = "Tom saw a red ball and a blue ball. " * 16  # more words than are listed


def opened(text: str) -> AppCapture:
    return captures.recall(sources.source("stories"), Request.of(text))


@pytest.fixture
def passes() -> Iterator[list[object]]:
    """One entry for each pass of the model."""
    found: list[object] = []
    model = opened("Tom saw a ball.").model.model
    handle = model.register_forward_hook(lambda *_: found.append(1))
    yield found
    handle.remove()


@pytest.mark.parametrize(("splits", "later"), [(False, 1), (True, 0)])
def test_who_splits_an_answer_has_its_one_pass_traced(
    passes: list[object], splits: bool, later: int
) -> None:
    text = f"Tom gave Lily the {splits} ball. Lily gave"
    captured = opened(text)
    answered = answer_runs.answers(captured, Request.of(text), (), splits=splits)
    assert answer_runs.answers(captured, Request.of(text), (), splits=not splits) is answered
    before = len(passes)
    assert answered.split is not None
    assert len(passes) - before == later
    traced_run(answered.run.prepared)  # the trace behind the split was let go
    assert len(passes) - before == later + 1


def test_no_long_text_is_traced(passes: list[object]) -> None:
    captured = opened(LONG)
    answered = answer_runs.answers(captured, Request.of(LONG), (), splits=True)
    before = len(passes)
    assert answered.split is None
    traced_run(answered.run.prepared)
    assert len(passes) - before == 1


def test_the_pass_of_the_capture_is_the_clean_one(passes: list[object]) -> None:
    text = "Lily gave Tom the red ball. Tom gave"
    captured = opened(text)
    before = len(passes)
    answered = answer_runs.answers(captured, Request.of(text), ())
    assert answered.run.prepared.calls == captured.capture.calls
    assert len(passes) == before
    other = answer_runs.answers(captured, Request.of("Lily gave Tom the red ball. Tom"), ())
    assert len(passes) > before
    assert other.run.prepared.calls != captured.capture.calls
