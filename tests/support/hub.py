"""A stand-in for the model hub: one folder, served on this machine as the hub serves a model.

In: a folder and an id. Out: an address for HF_ENDPOINT. The weights can be held back after their
first part, until `release` is set, so that what is shown meanwhile can be looked at.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.support.waiting import POLL_S

COMMIT = "0123456789abcdef0123456789abcdef01234567"
HELD = "model.safetensors"
LIMIT_S = 60.0


@dataclass(frozen=True)
class Hub:
    """Where it is, what lets the rest of the weights go, and what it was asked: method and path."""

    url: str
    release: threading.Event
    asked: list[str]


@contextmanager
def stand_in(folder: Path, name: str, hold: bool = False) -> Iterator[Hub]:
    """A hub with one model."""
    release = threading.Event()
    if not hold:
        release.set()
    asked: list[str] = []
    server = _Server(("127.0.0.1", 0), _handler(folder, name, release, asked))
    thread = threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True)
    thread.start()
    try:
        yield Hub(f"http://127.0.0.1:{server.server_port}", release, asked)
    finally:
        release.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    """Closing it waits for the threads that answer, so that none outlives its test."""

    daemon_threads = False


def _handler(
    folder: Path, name: str, release: threading.Event, asked: list[str]
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            asked.append(f"{self.command} {path}")
            file = folder / path.rpartition("/")[2]
            if path in (f"/api/models/{name}", f"/api/models/{name}/revision/main"):
                self._send(json.dumps(_info(folder, name)).encode(), "info", with_body)
            elif path.startswith(f"/{name}/resolve/") and file.is_file():
                self._send(file.read_bytes(), file.name, with_body)
            else:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()

        def _send(self, data: bytes, file: str, with_body: bool) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", f'"{_tag(data)}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if not with_body:
                return
            half = len(data) // 2
            self.wfile.write(data[:half])
            self.wfile.flush()
            if file == HELD:
                release.wait(LIMIT_S)
            self.wfile.write(data[half:])

        def log_message(self, format: str, *args: object) -> None:
            """Tests are quiet."""

    return Handler


def _tag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _info(folder: Path, name: str) -> dict[str, object]:
    siblings = [
        {"rfilename": file.name, "size": file.stat().st_size} for file in sorted(folder.iterdir())
    ]
    return {"id": name, "modelId": name, "sha": COMMIT, "tags": [], "siblings": siblings}
