"""The time from the start of the server to its end: ended sessions are let go, jobs are stopped.

In: the app. Out: a context, in which a task looks at the sessions every few seconds. Streamlit
keeps the session of a closed tab for two minutes, and lets go of it only when another one ends.
Sessions are cycles of objects, and so are the captures that they hold: a collection follows, of
frozen objects too (`loading`), and the freed memory goes back to the system.
"""

import asyncio
import ctypes
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from streamlit.runtime import Runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.starlette import App

from attnviz.ui.server import jobs

SWEEP_S = 10.0
KEPT_S = 40.0  # a lost connection comes back to its session within this time


@asynccontextmanager
async def lifetime(_app: App) -> AsyncIterator[None]:
    """The time between start and end of the server."""
    sweeping = asyncio.create_task(_sweep())
    try:
        yield
    finally:
        sweeping.cancel()
        jobs.stop_all()


async def _sweep() -> None:
    sessions = 0
    while True:
        await asyncio.sleep(SWEEP_S)
        if not Runtime.exists():
            continue
        manager = Runtime.instance()._session_mgr
        release_ended(getattr(manager, "_session_storage", None))
        before, sessions = sessions, len(manager.list_sessions())
        if sessions < before:
            await asyncio.to_thread(collect)


def release_ended(storage: object) -> None:
    """Let go of the sessions of tabs that were closed `KEPT_S` ago, and keep new ones as long."""
    if not isinstance(storage, MemorySessionStorage):
        return
    kept: Any = storage._cache
    if getattr(kept, "ttl", KEPT_S) != KEPT_S:
        shorter = type(kept)(kept.maxsize, KEPT_S)
        shorter.update(kept)
        storage._cache = kept = shorter
    if hasattr(kept, "expire"):
        kept.expire()


def collect() -> None:
    """Free what no session holds any more, and give the memory back to the system."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    with suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)
