"""What a request comes to in the library: one call of `attnviz.capture`, and what the model saw.

In: a loaded model, a request, and the picture or sound whose digest stands in it. Out: the capture,
and the picture as the model saw it. Whoever asks keeps the result (`cache`).
"""

from typing import TYPE_CHECKING

import attnviz
from attnviz.audio.sound import Sound

if TYPE_CHECKING:
    import numpy as np
    from jaxtyping import UInt8
    from PIL.Image import Image

    from attnviz.attention.capture import Capture
    from attnviz.models.loaded import LoadedModel
    from attnviz.ui.server.request import Request

    Ran = tuple[Capture, UInt8[np.ndarray, "row column rgb"] | None]

MOST_HEARD = 24  # tokens that a model writes of what it hears, where no number is asked for


def ran(loaded: "LoadedModel", request: "Request", given: "Image | Sound | None") -> "Ran":
    """The capture of a request."""
    texts = request.texts or None
    if isinstance(given, Sound):
        from attnviz.models.architecture import can_generate

        typed = request.target or None
        writes = not typed and can_generate(loaded.model)
        n_written = (request.generate or MOST_HEARD) if writes else 0
        cut = request.cut and bool(typed)
        capture = attnviz.capture(loaded, sound=given, target=typed, generate=n_written, cut=cut)
        return capture, None
    if given is not None:
        from attnviz.capture.plan.images import seen_picture

        if texts is None:
            return attnviz.capture(loaded, image=given), seen_picture(loaded, given)
        capture = attnviz.capture(
            loaded,
            texts,
            image=given,
            cut=request.cut,
            generate=request.writing(),
            chat=request.chat,
        )
        return capture, seen_picture(loaded, given)
    if texts is None:
        return attnviz.capture(loaded), None
    target = [request.target] * len(request.texts) if request.target else None
    capture = attnviz.capture(
        loaded, texts, target=target, generate=request.writing(), cut=request.cut, chat=request.chat
    )
    return capture, None
