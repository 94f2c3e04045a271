"""One app for all workers of a test run: started by the first that needs it, ended by the last.

In: a folder that the workers share, one for each app. Out: the address. A server loads torch, which
takes 8 s of processor time and half a gigabyte; two workers or three that visit it ask for a
twentieth of the time that their browsers take.
"""

import fcntl
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support.server import ROOT, app_command, free_port, stop, wait_healthy

LOCK, STATE, LOG = "server.lock", "server.json", "server.log"


@contextmanager
def shared(folder: Path, env: Mapping[str, str], app: str = "app.py") -> Iterator[str]:
    """The address of an app that answers, the same for all who give the same folder."""
    folder.mkdir(exist_ok=True)
    with _state(folder) as state:
        if not state:
            state.update(_started(folder, env, app), users=0)
        state["users"] += 1
        url = str(state["url"])
    try:
        yield url
    finally:
        with _state(folder) as state:
            state["users"] -= 1
            if not state["users"]:
                _end(state["pid"])
                state.clear()


_mine: dict[int, subprocess.Popen[bytes]] = {}


def _started(folder: Path, env: Mapping[str, str], app: str) -> dict[str, Any]:
    port = free_port()
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(
            app_command(port, app),
            cwd=ROOT,
            env={**os.environ, **env},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    problem = wait_healthy(url, process)
    if problem:
        stop(process)
        raise AssertionError(f"{problem}\n{(folder / LOG).read_text()[-4000:]}")
    _mine[process.pid] = process
    return {"pid": process.pid, "url": url}


def _end(pid: int) -> None:
    """End the server, which another worker may have started."""
    process = _mine.pop(pid, None)
    if process is not None:
        stop(process)
        return
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGTERM)


@contextmanager
def _state(folder: Path) -> Iterator[dict[str, Any]]:
    """What the workers know of the server, read and written by one of them at a time."""
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = folder / STATE
        state = json.loads(path.read_text()) if path.exists() else {}
        yield state
        path.write_text(json.dumps(state))
