"""Runs a request: one call of `attnviz.capture`, and the picture as the model saw it.

In: a loaded model, a request, and the picture or sound whose digest the request holds. Out: the
capture and that picture; `cache` keeps both. A model that fails with an error of its own libraries
(a tokenizer, memory) is reported as `run_failed`, its traceback goes to the log.
"""

import logging
import uuid
from typing import TYPE_CHECKING

import attnviz
from attnviz.audio.sound import Sound
from attnviz.errors import AttnVizError

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import UInt8
    from PIL.Image import Image

    from attnviz.attention.capture import Capture
    from attnviz.models.loaded import LoadedModel
    from attnviz.ui.server.request import Request

    CaptureAndPicture = tuple[Capture, UInt8[np.ndarray, "row column rgb"] | None]

# tokens that a model generates from a sound where no number is asked for
TOKENS_FROM_SOUND = 24

logger = logging.getLogger(__name__)


def run(
    loaded: "LoadedModel", request: "Request", medium: "Image | Sound | None"
) -> "CaptureAndPicture":
    """The capture of a request; `medium` is the picture or sound that it names by digest."""
    try:
        if isinstance(medium, Sound):
            return _run_sound(loaded, request, medium), None
        if medium is not None:
            return _run_picture(loaded, request, medium)
        return _run_texts(loaded, request), None
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


def _run_sound(loaded: "LoadedModel", request: "Request", sound: Sound) -> "Capture":
    """A transcript that was typed is aligned; without one the model generates its own."""
    if request.target:
        return attnviz.capture(loaded, sound=sound, target=request.target, cut=request.cut)
    generates = loaded.card.transcribes
    n_tokens = (request.generate or TOKENS_FROM_SOUND) if generates else 0
    return attnviz.capture(loaded, sound=sound, generate=n_tokens)


def _run_picture(loaded: "LoadedModel", request: "Request", image: "Image") -> "CaptureAndPicture":
    from attnviz.capture.plan.images import seen_picture

    if not request.texts:
        return attnviz.capture(loaded, image=image), seen_picture(loaded, image)
    capture = attnviz.capture(
        loaded,
        request.texts,
        image=image,
        cut=request.cut,
        generate=request.generation(),
        chat=request.chat,
    )
    return capture, seen_picture(loaded, image)


def _run_texts(loaded: "LoadedModel", request: "Request") -> "Capture":
    if not request.texts:  # the inputs that the model comes with
        return attnviz.capture(loaded)
    return attnviz.capture(
        loaded,
        request.texts,
        target=[request.target] * len(request.texts) if request.target else None,
        generate=request.generation(),
        cut=request.cut,
        chat=request.chat,
    )
