"""A balancer before several servers: a browser stays with the one that its cookie names.

In: the ports of the servers. Out: an address. A connection goes to the server of the cookie
`attnviz`, a number, and to the next one that takes it where that server is gone.
"""

import re
import socket
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

COOKIE = re.compile(rb"attnviz=(\d+)")
END_OF_HEAD = b"\r\n\r\n"
MAX_HEAD = 2**17


@contextmanager
def balancer(ports: Sequence[int]) -> Iterator[str]:
    """The address of a balancer before the servers at these ports of this machine."""
    with _Balancer(("127.0.0.1", 0), _Connection) as server:
        server.ports = ports
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
            for line in list(server.lines):
                _hang_up(line)


class _Balancer(socketserver.ThreadingTCPServer):
    """The server; leaving its block waits for the threads of all connections."""

    ports: Sequence[int] = ()
    request_queue_size = 128

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.lines: set[socket.socket] = set()


class _Connection(socketserver.BaseRequestHandler):
    server: _Balancer
    request: socket.socket

    def handle(self) -> None:
        """Copy bytes in both directions until either side closes."""
        self.server.lines.add(self.request)
        with suppress(OSError):
            head = self._head()
            with self._upstream(head) as theirs:
                self.server.lines.add(theirs)
                theirs.sendall(head)
                back = threading.Thread(target=_copy, args=(theirs, self.request))
                back.start()
                _copy(self.request, theirs)
                back.join()
                self.server.lines.discard(theirs)
        self.server.lines.discard(self.request)

    def _head(self) -> bytes:
        head = b""
        while END_OF_HEAD not in head and len(head) < MAX_HEAD:
            part = self.request.recv(2**16)
            if not part:
                raise ConnectionError
            head += part
        return head

    def _upstream(self, head: bytes) -> socket.socket:
        cookie, ports = COOKIE.search(head), self.server.ports
        first = int(cookie[1]) if cookie else 0
        for turn in range(len(ports)):
            with suppress(ConnectionError):
                return socket.create_connection(("127.0.0.1", ports[(first + turn) % len(ports)]))
        raise ConnectionError


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(2**16):
            target.sendall(data)
    for line in (source, target):
        _hang_up(line)


def _hang_up(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
