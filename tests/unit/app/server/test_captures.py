"""The refusals that the server keeps: a text that is too long is tokenised once, not each time.

They are kept in words, without the frames of the first one, and so are those of jobs.
"""

import gc
import weakref

import pytest

from attnviz.app.server import captures, jobs, sources
from attnviz.app.server.jobs import Job
from attnviz.capture.request import Request
from attnviz.errors import TooLarge


class Model:
    """What a run uses."""


def refuse() -> weakref.ref[Model]:
    """Refuse a text by `TooLarge`; returns the model, which only the frames of the error hold."""
    model = Model()

    def compute() -> None:
        assert model
        raise TooLarge("2500 tokens", code="too_many_tokens", found=2500, limit=512, unit="tokens")

    with pytest.raises(TooLarge):
        captures.unless_refused("a text that is too long", compute)
    return weakref.ref(model)


def test_a_text_that_is_too_long_is_refused_again_without_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[Request] = []
    run = captures.run_model

    def counted(loaded: object, request: Request, changes: str) -> object:
        runs.append(request)
        return run(loaded, request, changes)  # type: ignore[arg-type]

    monkeypatch.setattr(captures, "run_model", counted)
    source, request = sources.source("minilm"), Request.of("a dog and " * 300)
    errors = []
    for _ in range(3):
        with pytest.raises(TooLarge) as caught:
            captures.recall(source, request)
        errors.append(caught.value)
    assert len(runs) == 1
    assert {error.code for error in errors} == {errors[0].code}
    captures.recall(source, Request.of("a dog"))
    assert len(runs) == 2


def test_a_remembered_refusal_holds_no_model_and_says_the_same_again() -> None:
    model = refuse()
    gc.collect()
    assert model() is None
    raised = []
    for _ in range(2):
        with pytest.raises(TooLarge, match="2500 tokens") as refused:
            captures.unless_refused("a text that is too long", lambda: 1)
        raised.append(refused.value)
    assert raised[0] is not raised[1], "an error that is raised again would gather frames"
    assert raised[1].details == {"found": 2500, "limit": 512, "unit": "tokens"}


def test_a_job_that_failed_holds_no_model() -> None:
    def fail(job: Job) -> weakref.ref[Model]:
        model = Model()

        def work(_job: Job) -> None:
            assert model
            raise TooLarge("2500", code="too_many_tokens", found=2500, limit=512, unit="tokens")

        job.run(work)
        return weakref.ref(model)

    job = jobs.Job()
    model = fail(job)
    gc.collect()
    assert model() is None and job.state == "failed"
    with pytest.raises(TooLarge, match="2500"):
        job.raise_error()
