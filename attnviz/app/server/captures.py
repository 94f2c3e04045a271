"""The captures that pages show: run once for a request and kept for all visitors.

In: a model's source and a request. Out: an `AppCapture`, and the target that a model answers with.
A refusal is kept too. What takes long waits for its turn. A model that fails with an error of its
own libraries (a tokenizer, memory) is reported as `run_failed`, its traceback goes to the log.

`recall` and `changed` are what pages call: they take a capture from the memories `_usual`, `_long`
and `_changed`. A memory that has none calls `run_as_app_capture`; `run_model`, which that calls,
is the only one of these that runs the model.
"""

import logging
import uuid
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from attnviz.app.server import loading, peak, turns
from attnviz.app.server.shared import shared
from attnviz.app.server.sources import Source
from attnviz.errors import AttnVizError, TooLarge
from attnviz.pictures.group.app_capture import AppCapture, Media
from attnviz.pictures.group.groups import groups

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import UInt8

    from attnviz.attention.capture import Capture
    from attnviz.capture.request import Request
    from attnviz.models.loaded_model import LoadedModel

    CaptureAndPicture = tuple[Capture, UInt8[np.ndarray, "row column rgb"] | None]

MAX_CAPTURES = 24  # the largest, 512 tokens of minilm, keeps about 30 MB
MAX_LONG_CAPTURES = 2  # a small model on 16,384 tokens keeps 130 MB, one of 1B parameters 3 GB
LONG_CHARS = 6000  # what the text box takes; only a file holds more
MANY_CHARS = 2000  # some hundred tokens: the own models run them in a second
MAX_CHANGED = 4  # captures with heads off: the whole answer of a page each
MAX_ANSWERS = 256  # texts
MAX_REFUSALS = 256
Result = TypeVar("Result")

_refusals: OrderedDict[str, TooLarge] = OrderedDict()
logger = logging.getLogger(__name__)


def recall(source: Source, request: "Request") -> AppCapture:
    """The capture of a request: kept, or run now when its turn has come."""
    loaded = loading.model(source)
    n_chars = sum(map(len, request.text))
    kept = _long if n_chars > LONG_CHARS else _usual
    key, work = kept.key(source, request, loaded), partial(kept, source, request, loaded)
    if loading.is_own(source) and n_chars <= MANY_CHARS:
        return unless_refused(key, work)
    return unless_refused(key, lambda: turns.in_turn(key, work))


def unless_refused(key: str, compute: Callable[[], Result]) -> Result:
    """The result of `compute`; raises the `TooLarge` that it raised before for this key.

    So no run of a page tokenises a text anew that is too long. What another model or setting would
    refuse has another key.
    """
    if key in _refusals:
        raise _refusals[key].again()
    try:
        return compute()
    except TooLarge as error:
        _refusals[key] = error.again()
        while len(_refusals) > MAX_REFUSALS:
            _refusals.popitem(last=False)
        raise


def changed(source: Source, request: "Request", changes: str) -> AppCapture:
    """The capture of a request with changes made, which are given as text: kept, or run now."""
    loaded = loading.model(source)
    key = _changed.key(source, request, changes, loaded)
    return turns.in_turn(key, partial(_changed, source, request, changes, loaded))


@shared(most=MAX_CHANGED, holds_model=True)
def _changed(source: Source, request: "Request", changes: str, loaded: "LoadedModel") -> AppCapture:
    key = _changed.key(source, request, changes, loaded)
    recall = partial(changed, source, request, changes)
    return run_as_app_capture(loaded, request, source.name, key, recall, changes)


def _run_request(source: Source, request: "Request", loaded: "LoadedModel") -> AppCapture:
    key = _usual.key(source, request, loaded)
    return run_as_app_capture(loaded, request, source.name, key, partial(recall, source, request))


_usual = shared(most=MAX_CAPTURES, holds_model=True)(_run_request)
_long = shared(most=MAX_LONG_CAPTURES, holds_model=True)(_run_request)


def run_as_app_capture(
    loaded: "LoadedModel",
    request: "Request",
    name: str,
    key: str,
    recall: "Callable[[], AppCapture | None]",
    changes: str = "",
) -> AppCapture:
    """The capture of a request as pages show it, with changes made; `recall` finds it again."""
    capture, picture = run_model(loaded, request, changes)
    return AppCapture(
        key=key,
        name=name,
        loaded=loaded,
        capture=capture,
        groups=groups(capture),
        media=Media(picture, request.sound),
        request=request,
        recall=recall,
        check=turns.check,
    )


def run_model(loaded: "LoadedModel", request: "Request", changes: str = "") -> "CaptureAndPicture":
    """The capture of a request, and its picture as the model's processor cropped and resized it."""
    from attnviz.capture.plan.images import seen_picture
    from attnviz.capture.run import capture_request
    from attnviz.changes import parse

    peak.require_room(loaded, request)
    made = parse(changes) if changes else ()
    try:
        capture = capture_request(loaded, request, changes=made, check=turns.check)
        return capture, seen_picture(loaded, request.image) if request.image else None
    except AttnVizError:
        raise
    except Exception as error:
        reference = uuid.uuid4().hex[:8]
        logger.exception("run failed, reference %s", reference)
        raise AttnVizError(
            f"{loaded.name} failed on this input; try again, or change the input",
            code="run_failed",
            reference=reference,
        ) from error


def answer(source: Source, question: str, cut: bool) -> str:
    """The target that an encoder-decoder generates for a text, up to its end token."""
    return _answer(source, loading.model(source), question, cut)


@shared(most=MAX_ANSWERS)
def _answer(source: Source, loaded: "LoadedModel", question: str, cut: bool) -> str:
    from attnviz.experiment.outputs.answer import answer

    return answer(loaded, question, cut=cut)
