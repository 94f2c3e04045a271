"""The first pictures, computed before the first visitor comes.

In: the start of the server, and what computes its first page. Out: a thread that imports the
libraries, computes that page, loads the model that the app opens with, runs it once and records its
reference; `is_ready` when that is done. The server listens meanwhile: the first page is shown as it
is stored, another one waits for the same work, and no longer. A model that cannot be loaded is told
of in the log, and to visitors who open it: the server is ready all the same, as it has others.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable

from attnviz.app.server import captures, course_lessons, loading, sources
from attnviz.app.server.unexpected import logged
from attnviz.capture.request import Request
from attnviz.checks import examples
from attnviz.errors import AttnVizError
from attnviz.models.registry import DEFAULT_MODEL

LISTENS_S = 0.3  # after the start of this work: the server's own comes first
# imports run for seconds, and whoever serves a page meanwhile gets Python's lock back only after
# this time, at each of hundreds of calls to the system
SWITCH_S = 0.0005

logger = logging.getLogger(__name__)
_begun, _ready = threading.Event(), threading.Event()


def begin(prepare: Callable[[], None]) -> None:
    """Begin to compute them, beside what the server does."""
    _begun.set()
    threading.Thread(target=_warm, args=(prepare,), name="attnviz-warm", daemon=True).start()


def is_under_way() -> bool:
    """True while they are computed."""
    return _begun.is_set() and not _ready.is_set()


def is_ready() -> bool:
    """True if the next visitor waits for nothing but a page."""
    return _ready.is_set()


def _warm(prepare: Callable[[], None]) -> None:
    start = time.monotonic()
    usual_s = sys.getswitchinterval()
    time.sleep(LISTENS_S)
    sys.setswitchinterval(SWITCH_S)
    try:
        loading.import_libraries()
        from attnviz.capture.changed.corpus import recorded

        prepare()
        first = examples.texts(DEFAULT_MODEL)[0]
        shown = captures.recall(sources.source(DEFAULT_MODEL), Request.of((first,)))
        recorded(shown.model)  # heads of every text are compared with it
        sys.stderr.write(f"attnviz: ready after {time.monotonic() - start:.1f} s\n")
    except AttnVizError as error:
        logger.warning("%s cannot be opened: %s", DEFAULT_MODEL, error)
    except Exception:
        logged("start")
    finally:
        sys.setswitchinterval(usual_s)
        _ready.set()
    course_lessons.shelf()  # so that the first reader of a lesson waits for no import either
    for slug in course_lessons.slugs():
        course_lessons.lesson(slug)
