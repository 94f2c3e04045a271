"""Captures for lessons."""

from hashlib import sha256

import numpy as np
import pytest

from attnviz.capture.run import capture
from attnviz.course.recipe import CaptureText
from attnviz.models.loader import load


@pytest.fixture(scope="session")
def capture_text() -> CaptureText:
    """Captures of registry models; each model is loaded once, each capture made once."""
    loaded: dict[str, object] = {}
    kept: dict[str, object] = {}

    def run(model: str, text: str | None = None, **options: object) -> object:
        key = repr((model, text, sorted(options.items(), key=lambda item: item[0])))
        # numpy leaves the middle of a picture out when it writes one
        key += sha256(np.asarray(options.get("image", ())).tobytes()).hexdigest()
        if key not in kept:
            loaded.setdefault(model, load(model))
            kept[key] = capture(loaded[model], text, **options)  # type: ignore[arg-type]
        return kept[key]

    return run  # type: ignore[return-value]
