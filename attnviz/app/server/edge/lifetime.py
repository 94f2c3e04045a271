"""The time from the start of the server to its end: ended sessions are let go, jobs are stopped.

A job is given up, too, once nobody who asked for it is there any more; one that looks at its cancel
too seldom ends with the process. In: the app. Out: a context, in which a task looks at the sessions
every few seconds. Streamlit keeps the session of a closed tab for two minutes, and lets go of it
only when another one ends. Sessions are cycles of objects, and so are the captures that they hold:
a collection follows, and the freed memory goes back to the system. What a session made before the
last model was loaded is frozen (`loading`); a collection of frozen objects too walks all of torch,
and holds up every page for 0.24 s. It comes once a minute at most, or when nobody is there.
"""

import asyncio
import atexit
import gc
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

from streamlit.runtime import Runtime
from streamlit.starlette import App

import attnviz
from attnviz.app.server import jobs
from attnviz.app.server.edge import heap, streamlit_patches, warm

SWEEP_S = 10.0
KEPT_S = 40.0  # a lost connection comes back to its session within this time
ABORTED = 1  # as after any Ctrl+C
WHOLE_S = 60.0  # between two collections of all objects, while pages are open


@asynccontextmanager
async def lifetime(prepare: Callable[[], None], _app: App) -> AsyncIterator[None]:
    """The time between start and end of the server; `prepare` computes the first picture."""
    versions = f"{attnviz.__version__} begins, with streamlit {version('streamlit')}"
    sys.stderr.write(f"attnviz: {versions}\n")
    warm.begin(prepare)
    sweeping = asyncio.create_task(_sweep())
    try:
        yield
    finally:
        sweeping.cancel()
        jobs.stop_all()
        atexit.register(end_at_once)


def end_at_once() -> None:
    """End the process without its last steps if a thread still computes.

    Python's last steps end such a thread in the middle of torch, which aborts the process.
    """
    if threading.enumerate() != [threading.main_thread()]:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ABORTED)


async def _sweep() -> None:
    schedule = Schedule(time.monotonic())
    while True:
        await asyncio.sleep(SWEEP_S)
        if not Runtime.exists():
            continue
        streamlit_patches.release_ended(KEPT_S)
        sessions = streamlit_patches.session_ids()
        jobs.stop_unwatched(sessions)
        due = schedule.due(len(sessions), time.monotonic())
        if due != "none":
            await asyncio.to_thread(collect, whole=due == "whole")


@dataclass
class Schedule:
    """When a collection is due; `last_whole` is the time of the last one of all objects."""

    last_whole: float
    n_sessions: int = 0
    owes_whole: bool = False

    def due(self, n_sessions: int, now: float) -> Literal["none", "young", "whole"]:
        """The collection that is due with so many sessions now."""
        has_ended = n_sessions < self.n_sessions
        self.n_sessions = n_sessions
        self.owes_whole |= has_ended
        if self.owes_whole and (n_sessions == 0 or now - self.last_whole >= WHOLE_S):
            self.last_whole, self.owes_whole = now, False
            return "whole"
        return "young" if has_ended else "none"


def collect(*, whole: bool) -> None:
    """Free what no session holds any more, and give the memory back to the system.

    Frozen objects are looked at if it is a `whole` one.
    """
    if whole:
        gc.unfreeze()
    gc.collect()
    if whole:
        gc.freeze()
    heap.give_back()
