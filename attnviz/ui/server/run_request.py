"""Runs a request: one capture, and the picture as the model saw it.

In: a loaded model and a request. Out: the capture and that picture; `cache` keeps both. A model
that fails with an error of its own libraries (a tokenizer, memory) is reported as `run_failed`, its
traceback goes to the log.
"""

import logging
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING

from attnviz.errors import AttnVizError
from attnviz.ui.server import peak, turns
from attnviz.views.app_capture import AppCapture, Media, accuracy_of
from attnviz.views.groups import groups

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import UInt8

    from attnviz.attention.capture import Capture
    from attnviz.capture.request import Request
    from attnviz.models.loaded_model import LoadedModel

    CaptureAndPicture = tuple[Capture, UInt8[np.ndarray, "row column rgb"] | None]

logger = logging.getLogger(__name__)


def run(loaded: "LoadedModel", request: "Request") -> "CaptureAndPicture":
    """The capture of a request, and its picture as the model's processor cropped and resized it."""
    from attnviz.capture.plan.images import seen_picture
    from attnviz.capture.run import capture_request

    peak.require_room(loaded, request)
    try:
        capture = capture_request(loaded, request, check=turns.check)
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


def captured(
    key: str,
    name: str,
    request: "Request",
    loaded: "LoadedModel",
    recall: "Callable[[], AppCapture | None]",
) -> AppCapture:
    """The capture of a request as pages show it, verified; `recall` finds it again."""
    capture, picture = run(loaded, request)
    return AppCapture(
        key=key,
        name=name,
        loaded=loaded,
        capture=capture,
        groups=groups(capture),
        accuracy=accuracy_of(capture),
        media=Media(picture, request.sound),
        n_asked=n_asked(request),
        recall=recall,
    )


def n_asked(request: "Request") -> int:
    """The tokens that a model was asked to generate and to read: its last one is never read."""
    return 0 if request.generation is None else request.generation.n_tokens - 1
