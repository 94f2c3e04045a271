"""The state of the server, for those who run it: `/healthz` for anyone, `/metrics` with a key.

In: a request. Out: "ok" once the first picture can be computed; numbers in the text format of
Prometheus, if the operator has set ATTNVIZ_METRICS_KEY and the request brings it as a bearer token.
No text, name of a model or address of a visitor is among them.
"""

import hmac
import math
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from attnviz.app.server import class_socket, jobs, loading, turns
from attnviz.app.server.edge import streamlit_patches, warm
from attnviz.errors import AttnVizError

KEY_VARIABLE = "ATTNVIZ_METRICS_KEY"
STARTED = time.monotonic()
TYPE = "text/plain; version=0.0.4; charset=utf-8"


def routes() -> list[BaseRoute]:
    """The routes that the launcher adds to the app, also where the app lies below a folder."""
    pages = {"healthz": healthz, "metrics": metrics}
    bases = ("", "/{base:path}")
    return [Route(f"{base}/{name}", page) for base in bases for name, page in pages.items()]


def healthz(_request: Request) -> Response:
    """200 once a visitor would not wait for the start of the server; 503 until then."""
    ready = warm.is_ready()
    said, status = ("ok\n", 200) if ready else ("starting\n", 503)
    return PlainTextResponse(said, status, headers={"Cache-Control": "no-store"})


def metrics(request: Request) -> Response:
    """The numbers; 404 without the operator's key, as if there were no such page."""
    key = os.environ.get(KEY_VARIABLE, "")
    sent = request.headers.get("authorization", "")
    if not key or not hmac.compare_digest(sent.encode(), f"Bearer {key}".encode()):
        return Response(status_code=404)
    lines = (f"attnviz_{name} {read()}\n" for name, read in GAUGES.items())
    return Response("".join(lines), media_type=TYPE)


def memory_bytes() -> int:
    """The resident memory of this process; its peak where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _peak_bytes()


def _peak_bytes() -> int:
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _classes() -> float:
    """The number of classes; not a number while their store is out of reach."""
    try:
        return class_socket.rooms().count()
    except AttnVizError:
        return math.nan


GAUGES: dict[str, Callable[[], float]] = {
    "memory_bytes": memory_bytes,
    "uptime_seconds": lambda: round(time.monotonic() - STARTED, 1),
    "threads": threading.active_count,
    "sessions": streamlit_patches.n_connected,
    "classes": _classes,
    "jobs_waiting": jobs.waiting,
    "runs_waiting": lambda: turns.line.n_waiting,
    "models": loading.n_in_memory,
    "upload_bytes": streamlit_patches.uploaded_bytes,
}
