"""The first picture, computed before the first visitor comes.

In: the start of the server. Out: a thread that imports the libraries, loads the model that the app
opens with and runs it once; `is_ready` when that is done. Whoever comes earlier waits for the same
work, and no longer. A model that cannot be loaded is told of in the log, and to visitors who open
it: the server is ready all the same, as it has others.
"""

import logging
import sys
import threading
import time

from attnviz.app.server import captures, sources
from attnviz.app.server.unexpected import logged
from attnviz.errors import AttnVizError
from attnviz.models.registry import DEFAULT_MODEL

TEXT = "The first picture."

logger = logging.getLogger(__name__)
_ready = threading.Event()


def begin() -> None:
    """Begin to compute it, beside what the server does."""
    threading.Thread(target=_warm, name="attnviz-warm", daemon=True).start()


def is_ready() -> bool:
    """True if the next visitor waits for nothing but a page."""
    return _ready.is_set()


def _warm() -> None:
    start = time.monotonic()
    try:
        from attnviz.capture.request import Request

        captures.recall(sources.source(DEFAULT_MODEL), Request.of((TEXT,)))
        sys.stderr.write(f"attnviz: ready after {time.monotonic() - start:.1f} s\n")
    except AttnVizError as error:
        logger.warning("%s cannot be opened: %s", DEFAULT_MODEL, error)
    except Exception:
        logged("start")
    finally:
        _ready.set()
