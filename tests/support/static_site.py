"""A folder served as any web space would: files and nothing else, perhaps over a slow line."""

import functools
import gzip
import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.waiting import POLL_S

COMPRESSED = (".html", ".js", ".css", ".json")
CHUNK_BYTES = 8192


@dataclass
class SlowLine:
    """A line that all connections share: a connection and each request cost a round trip."""

    bytes_per_second: float
    round_trip_s: float
    free_at: float = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def carry(self, n_bytes: int) -> None:
        """Return when the bytes have arrived behind all that was sent before."""
        with self.lock:
            self.free_at = max(self.free_at, time.monotonic()) + n_bytes / self.bytes_per_second
            arrived = self.free_at
        time.sleep(max(0, arrived - time.monotonic()))


class Files(http.server.SimpleHTTPRequestHandler):
    """Sends files without a word; texts compressed, as web spaces send them, or as they are."""

    protocol_version = "HTTP/1.1"  # a connection carries many requests
    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
    }

    def __init__(
        self, *arguments: Any, packs: bool = True, line: SlowLine | None = None, **named: Any
    ) -> None:
        self.packs = packs
        self.line = line
        super().__init__(*arguments, **named)

    def setup(self) -> None:
        """Begin a connection."""
        super().setup()
        if self.line:
            time.sleep(self.line.round_trip_s)

    def do_GET(self) -> None:
        """Send one file."""
        if self.line:
            time.sleep(self.line.round_trip_s)
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            return self.send_error(404)
        is_packed = self.packs and path.suffix in COMPRESSED
        content = path.read_bytes()
        content = gzip.compress(content, 6) if is_packed else content
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        if is_packed:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        for start in range(0, len(content), CHUNK_BYTES):
            part = content[start : start + CHUNK_BYTES]
            if self.line:
                self.line.carry(len(part))
            self.wfile.write(part)
        return None

    def log_message(self, *_arguments: object) -> None:
        """Nothing is written to the console."""


@contextmanager
def served(folder: Path, *, packs: bool = True, line: SlowLine | None = None) -> Iterator[str]:
    """The address of a folder on this machine."""
    handler = functools.partial(Files, directory=str(folder), packs=packs, line=line)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
