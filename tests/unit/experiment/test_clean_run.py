"""`clean_run.of_capture`: the pass of a capture as the clean run, if it kept all that is read."""

import numpy as np
import pytest

import attnviz
from attnviz.attention.capture import Capture
from attnviz.capture.request import Request
from attnviz.capture.run import capture_request
from attnviz.experiment.clean_run import of_capture, prepare_request
from attnviz.experiment.run import Experiment

LONG = "Tom saw a ball. " * 8
TEXT = "Tom saw a red ball. Lily saw a blue"


def captured(model: str, request: Request) -> Capture:
    return capture_request(attnviz.load(model), request)


@pytest.mark.parametrize("model", ["stories", "minilm"])
def test_the_pass_of_a_capture_is_that_of_a_clean_run(model: str) -> None:
    lm, request = attnviz.load(model), Request.of(TEXT)
    last_row = lm.kind == "decoder"
    own = prepare_request(lm, request, last_row=last_row)
    found = of_capture(lm, request, captured(model, request), last_row=last_row)
    assert found is not None
    assert found.options == own.options
    assert found.inputs.keys() == own.inputs.keys()
    assert [call.name for call in found.calls] == [call.name for call in own.calls]
    for name, tensor in found.clean.items():
        assert float((tensor - own.clean[name]).abs().max()) <= 1e-5 * float(tensor.abs().max())
    effects, wanted = Experiment(found).effects(), Experiment(own).effects()
    assert np.allclose(effects.after, wanted.after, atol=1e-4)


def test_a_capture_that_kept_too_little_is_no_clean_run() -> None:
    stories, request = attnviz.load("stories"), Request.of(TEXT)
    whole = of_capture(stories, request, captured("stories", request), last_row=True)
    assert whole is not None
    changed = capture_request(stories, request, changes=[attnviz.ablate("L2.H1")])
    some = capture_request(stories, request, keep=["L2.H1"])
    for cap in (changed, some):
        assert of_capture(stories, request, cap, last_row=True) is None
    scored_last = capture_request(stories, Request.of(LONG), scores=False)
    assert scored_last.logits is not None and scored_last.logits.shape[1] == 1
    assert of_capture(stories, Request.of(LONG), scored_last, last_row=True) is not None
    assert of_capture(stories, Request.of(LONG), scored_last) is None
