"""Starts the app as its own process on a free port, waits for its health route, and ends it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent.parent
HEALTH = "/_stcore/health"
START_LIMIT_S = 180.0
STOP_LIMIT_S = 10.0


def free_port() -> int:
    """A port that nothing listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def app_command(port: int, app: str = "app.py") -> list[str]:
    """The command that starts the app of this checkout, or another one, on that port."""
    options = [f"--server.port={port}", "--server.address=127.0.0.1"]
    return [sys.executable, "-m", "streamlit", "run", app, *options]


@dataclass(frozen=True)
class Running:
    """A running app: its address, its process, and what that writes."""

    url: str
    process: subprocess.Popen[str]
    written: IO[str]

    def log(self) -> str:
        """All that the process has written."""
        self.written.seek(0)
        return self.written.read()


@contextmanager
def serve(
    port: int | None = None,
    command: Sequence[str] | None = None,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    folder: str = "",
) -> Iterator[str]:
    """The address of a running app that answers; its whole process group ends after."""
    with running(port, command, cwd, env, folder) as app:
        yield app.url


@contextmanager
def running(
    port: int | None = None,
    command: Sequence[str] | None = None,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    folder: str = "",
) -> Iterator[Running]:
    """The same with the process, for a test that ends it in the middle.

    With a `folder` the app lies below it: all its addresses begin with `/folder`.
    """
    port = port or free_port()
    command = list(command or app_command(port))
    if folder:
        command.append(f"--server.baseUrlPath={folder}")
    with tempfile.TemporaryFile(mode="w+") as log:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            url = f"http://127.0.0.1:{port}" + (f"/{folder}" if folder else "")
            problem = wait_healthy(url, process)
            if problem:
                log.seek(0)
                raise AssertionError(f"{problem}: {' '.join(command)}\n{log.read()[-4000:]}")
            yield Running(url, process, log)
        finally:
            stop(process)


def wait_healthy(url: str, process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> str | None:
    """None once the health route answers, else what went wrong."""
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return f"the server ended with code {process.returncode}"
        try:
            with urllib.request.urlopen(url + HEALTH, timeout=2) as answer:
                if answer.status == 200:
                    return None
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    return f"the server did not answer within {START_LIMIT_S:.0f} s"


def stop(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Ends the process and all it started, the hard way where it does not listen."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, how)
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            continue
