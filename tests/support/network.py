"""A guard that lets sockets reach this machine only, and remembers what it refused, and to whom.

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
    """A test tried to reach another machine."""


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
    """While entered, `connect`, `connect_ex`, `sendto` and name look-ups stay on this machine."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> Self:
        for method in ("connect", "connect_ex"):
            self._guard(method, lambda arguments: arguments[0])
        self._guard("sendto", lambda arguments: arguments[-1])
        self._guard_lookup()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._patch.undo()

    def _refuse(self, target: object) -> None:
        self.refused.append(f"{target} in {threading.current_thread().name}, {_callers()}")
        raise NetworkRefused(f"tests may not reach {target}")

    def _guard(self, method: str, address_of: Any) -> None:
        original = getattr(socket.socket, method)

        def guarded(sock: socket.socket, *arguments: Any) -> Any:
            address = address_of(arguments)
            if sock.family != socket.AF_UNIX and not is_local(address[0]):
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
