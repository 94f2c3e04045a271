"""The object of the innermost `with` block that is open in this thread.

In: the object that a block brings. Out: the object of the innermost open block. Blocks that end in
another order than the reverse of their beginning leave nothing behind: the object of a block that
has ended is never the answer.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

Brought = TypeVar("Brought")


class Innermost(Generic[Brought]):
    """The objects of the open blocks of this thread; each kind of block has its own.

    `get` gives that of the innermost one, None outside of all. Every hook asks for it, so that it
    is a variable of its own.
    """

    get: Callable[[], Brought | None]

    def __init__(self, name: str) -> None:
        self._open: ContextVar[tuple[Brought, ...]] = ContextVar(name, default=())
        self._last: ContextVar[Brought | None] = ContextVar(f"{name}_last", default=None)
        self.get = self._last.get

    @contextmanager
    def block(self, brought: Brought) -> Iterator[None]:
        """While the block is open, its object is in force unless a block inside brings another."""
        self._set((*self._open.get(), brought))
        try:
            yield
        finally:
            still_open = list(self._open.get())
            for place in reversed(range(len(still_open))):
                if still_open[place] is brought:
                    del still_open[place]
                    break
            self._set(tuple(still_open))

    def _set(self, brought: tuple[Brought, ...]) -> None:
        self._open.set(brought)
        self._last.set(brought[-1] if brought else None)
