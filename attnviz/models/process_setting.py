"""A setting of the whole process, held at a value while any thread needs it.

In: how the setting is read and written. Out: blocks during which it has the value. With a plain
"keep, set, put back" two threads that overlap leave the value of the first behind for good: the
second keeps that, and puts it back last.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

Value = TypeVar("Value")


class ProcessSetting(Generic[Value]):
    """A setting that is put back as the last of those leaves who hold it."""

    def __init__(
        self, value: Value, read: Callable[[], Value], write: Callable[[Value], object]
    ) -> None:
        self.value, self._read, self._write = value, read, write
        self._lock = threading.Lock()
        self._holders = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the block runs, in any thread, the setting has the value."""
        with self._lock:
            if self._holders == 0:
                self._before = self._read()
                self._write(self.value)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self._write(self._before)
