"""The model's answer to what is shown, and what a job measures of its heads.

In: a capture and a request. Out: an `Answering`, made once for a capture, on which each click
of a switch is one pass; a `Measurement`, whose job runs beside the page. Both are kept.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from attnviz.app.server import jobs
from attnviz.app.server.jobs import Job
from attnviz.app.server.shared import shared
from attnviz.app.server.watchers import watched
from attnviz.pictures.group.app_capture import AppCapture

if TYPE_CHECKING:
    from attnviz.capture.request import Request
    from attnviz.experiment.answer_measures import AnswerMeasure
    from attnviz.experiment.by_token import DirectByToken
    from attnviz.experiment.clean_run import CleanRun
    from attnviz.experiment.run import Experiment
    from attnviz.experiment.weights_alone.circuits import Circuits
    from attnviz.models.loaded_model import LoadedModel

MAX_ANSWERING = 8  # a clean pass each: like a capture
MAX_CIRCUITS = 2  # the folded weights of a model each
MAX_MEASURED = 64  # a few numbers for each head; for each pair of heads, 0.5 MB of 144

Result = TypeVar("Result")

# of the sentences that each text is compared with
_vectors: "WeakKeyDictionary[LoadedModel, dict[str, Any]]" = WeakKeyDictionary()
_pass_times: "WeakKeyDictionary[LoadedModel, dict[int, float]]" = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Answering:
    """A run of an input, and how long a pass takes."""

    run: "Experiment"
    pass_ms: float
    _texts: dict[int, str] = field(default_factory=dict)

    @cached_property
    def split(self) -> "DirectByToken | None":
        """A number of the answer by head and token; it is kept with the cuts that were run.

        The trace behind it is let go: it holds every tensor of the pass.
        """
        from attnviz.experiment.traced_run import forget_trace
        from attnviz.pictures.switches.words import split_of

        split = split_of(self.run)
        forget_trace(self.run.prepared)
        return split

    def written(self, n_tokens: int) -> str:
        """The model's continuation with all heads on; it is kept."""
        if n_tokens not in self._texts:
            from attnviz.experiment.changed_run import continued

            self._texts[n_tokens] = continued(self.run.prepared, (), n_tokens)
        return self._texts[n_tokens]


@dataclass(eq=False)
class Measurement(Generic[Result]):
    """The measurement of a job; `result` is None until it is done."""

    job: Job = field(default_factory=Job)
    result: Result | None = None

    def ready(self) -> Result | None:
        """The result once it is there; raises the error of the job."""
        self.job.raise_error()
        return self.result if self.job.state == "done" else None


def answers(
    captured: AppCapture, request: "Request", others: tuple[str, ...], *, splits: bool = False
) -> Answering:
    """The model's answer to a capture's input, ready to be computed again with heads changed.

    For who `splits` the answer by word, too, the pass is traced at once.
    """
    key = f"{captured.key} {request.key} {others}"
    return _answers(key, captured, request, others, splits)


@shared(most=MAX_ANSWERING, holds_model=True)
def _answers(
    key: str, _captured: AppCapture, _request: "Request", _others: tuple[str, ...], _splits: bool
) -> Answering:
    """One clean pass, or that of the capture; of a decoder only the last logits are kept."""
    from attnviz.experiment.run import Experiment
    from attnviz.experiment.traced_run import prepare_traced
    from attnviz.pictures.switches.words import MAX_WORDS

    loaded, last_row = _captured.model, _captured.model.kind == "decoder"
    if _splits and len(_captured.capture.tokens) <= MAX_WORDS:
        prepared = prepare_traced(loaded, _request, last_row=last_row)
    else:
        prepared = clean_run(_captured, _request, last_row=last_row)
    prepared = replace(prepared, vectors=_vectors.setdefault(loaded, {}))
    run = Experiment(prepared, _others)
    assert run.reader, "the answer is read once, for all who look at it"
    return Answering(run, _pass_ms(prepared))


def clean_run(captured: AppCapture, request: "Request", *, last_row: bool = False) -> "CleanRun":
    """The clean pass of a request: that of the capture, if it is its own and kept enough."""
    from attnviz.experiment.clean_run import of_capture, prepare_request

    model, known = captured.model, None
    if captured.request is not None and captured.request.key == request.key:
        known = of_capture(model, request, captured.capture, last_row=last_row)
    return known or prepare_request(model, request, last_row=last_row)


def _pass_ms(prepared: "CleanRun") -> float:
    """The processor time of a pass, taken once for a model and texts of up to twice a length."""
    import torch

    known = _pass_times.setdefault(prepared.lm, {})
    length = prepared.n_token.bit_length()
    if length not in known:
        with prepared.lm.lock, torch.no_grad():  # the recorded pass is no measure of the next
            start = time.thread_time()
            prepared.lm.model(**prepared.inputs, **prepared.options)
            known[length] = 1000 * (time.thread_time() - start)
    return known[length]


@shared(most=MAX_CIRCUITS, holds_model=True)
def weights_alone(key: str, _loaded: "LoadedModel") -> "Circuits":
    """The circuits that the weights of a model have; `key` is the model's."""
    from attnviz.experiment.weights_alone.circuits import circuits

    return circuits(_loaded)


def telling_apart(left: Answering, right: Answering) -> "AnswerMeasure | None":
    """The left answer's lead over the right one; None if both are the same or have no lead."""
    from attnviz.experiment.answer_measures import Class, NextToken

    own, other = (int(side.run.reader.clean.argmax()) for side in (left, right))
    lead = left.run.reader.lead
    if own == other:
        return None
    if isinstance(lead, NextToken):
        return NextToken(own, against=other, at=lead.at)
    return Class(own, against=other) if isinstance(lead, Class) else None


def measurement(
    key: str,
    work: Callable[[Job], Result],
    estimate_s: float = jobs.SHORT_S,
    *,
    asked: bool = True,
) -> Measurement[Result]:
    """The measurement of `work`, which `key` names; its job starts at the first call.

    One that nobody `asked` for ends when its session looks at another.
    """
    return watched(_measurement, key, work, estimate_s, asked=asked)


def has_begun(key: str) -> bool:
    """True if the measurement that `key` names is done or under way."""
    return _measurement.keeps(key)


def forget_measurement(key: str) -> None:
    """Measure that anew when it is asked for again."""
    _measurement.forget(key)


@shared(most=MAX_MEASURED, on_release=jobs.stop)
def _measurement(key: str, _work: Callable[[Job], Any], _estimate_s: float) -> Measurement[Any]:
    return measure(_work, _estimate_s)


def measure(work: Callable[[Job], Result], estimate_s: float = jobs.SHORT_S) -> Measurement[Result]:
    """Begin to measure, as soon as a thread is free."""
    measurement: Measurement[Result] = Measurement()

    def run(job: Job) -> None:
        measurement.result = work(job)

    measurement.job = jobs.start(run, estimate_s)
    return measurement
