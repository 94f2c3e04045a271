"""The refusals that the server keeps: a text that is too long is tokenised once, not each time."""

import pytest

from attnviz.app.server import captures, sources
from attnviz.capture.request import Request
from attnviz.errors import TooLarge


def test_a_text_that_is_too_long_is_refused_again_without_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[Request] = []
    run = captures.run

    def counted(loaded: object, request: Request, changes: str) -> object:
        runs.append(request)
        return run(loaded, request, changes)  # type: ignore[arg-type]

    monkeypatch.setattr(captures, "run", counted)
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
