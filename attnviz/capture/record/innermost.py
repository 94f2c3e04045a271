"""The object of the innermost `with` block that is open in this thread.

In: the object that a block brings. Out: the object of the innermost open block. Blocks that end in
another order than the reverse of their beginning leave nothing behind: the object of a block that
has ended is never the answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

Brought = TypeVar("Brought")


class Innermost(Generic[Brought]):
    """The objects of the open blocks of this thread; each kind of block has its own."""

    def __init__(self, name: str) -> None:
        self._open: ContextVar[tuple[Brought, ...]] = ContextVar(name, default=())

    def get(self) -> Brought | None:
        """The object of the innermost open block; None outside of all blocks."""
        brought = self._open.get()
        return brought[-1] if brought else None

    @contextmanager
    def block(self, brought: Brought) -> Iterator[None]:
        """While the block is open, its object is in force unless a block inside brings another."""
        self._open.set((*self._open.get(), brought))
        try:
            yield
        finally:
            still_open = list(self._open.get())
            for place in reversed(range(len(still_open))):
                if still_open[place] is brought:
                    del still_open[place]
                    break
            self._open.set(tuple(still_open))
