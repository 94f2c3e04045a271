"""A guard that lets sockets reach this machine only, and remembers what it refused, and to whom.

It also refuses to listen on the port that the app takes by default: a developer's app may hold it
while the tests run, and a test that wants it would pass on some machines only.

What it refuses in a thread is held against the test that runs by then, which need not be the one
that started the thread: thread and place are kept with it.
"""

import ipaddress
import socket
import threading
import traceback
from typing import Any, Self

import pytest

LOCAL_NAMES = {"", "localhost", "0.0.0.0", "::"}


class NetworkRefused(OSError):
    """A test tried to reach another machine, or to listen where the developer's app may."""


def is_local(host: object) -> bool:
    """True when the host is this machine; names other than localhost are never looked up."""
    name = host.decode() if isinstance(host, bytes) else host
    if name is None or name in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(str(name).split("%")[0]).is_loopback
    except ValueError:
        return False


def _callers() -> str:
    """The innermost functions that led to the guard, this file's left out."""
    frames = [frame for frame in traceback.extract_stack() if frame.filename != __file__]
    return " < ".join(f"{of.name} ({of.filename}:{of.lineno})" for of in reversed(frames[-6:]))


class NetworkGuard:
    """While entered, `connect`, `connect_ex`, `sendto` and name look-ups stay on this machine.

    `bind` may take any port but the app's default.
    """

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> Self:
        from attnviz.cli.app import PORT  # the root conftest first sets how attnviz is imported

        for method in ("connect", "connect_ex"):
            self._guard(method, lambda arguments: arguments[0], lambda to: is_local(to[0]))
        self._guard("sendto", lambda arguments: arguments[-1], lambda to: is_local(to[0]))
        self._guard("bind", lambda arguments: arguments[0], lambda to: to[1] != PORT)
        self._guard_lookup()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._patch.undo()

    def _refuse(self, target: object) -> None:
        self.refused.append(f"{target} in {threading.current_thread().name}, {_callers()}")
        raise NetworkRefused(f"tests may not reach {target}")

    def _guard(self, method: str, address_of: Any, is_allowed: Any) -> None:
        original = getattr(socket.socket, method)

        def guarded(sock: socket.socket, *arguments: Any) -> Any:
            address = address_of(arguments)
            if sock.family != socket.AF_UNIX and not is_allowed(address):
                self._refuse(address)
            return original(sock, *arguments)

        self._patch.setattr(socket.socket, method, guarded)

    def _guard_lookup(self) -> None:
        original = socket.getaddrinfo

        def guarded(host: Any, *arguments: Any, **keywords: Any) -> Any:
            if not is_local(host):
                self._refuse(host)
            return original(host, *arguments, **keywords)

        self._patch.setattr(socket, "getaddrinfo", guarded)
