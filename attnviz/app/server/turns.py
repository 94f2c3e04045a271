"""The line in which heavy work waits: models of visitors, their passes, and passes of long texts.

In: a page run that has heavy work to do. Out: a `with` block that begins when its turn has come, in
the order of arrival. Who waits is told how many are before them. A run whose tab was closed leaves
the line, and a pass that runs ends at its next layer: the page run checks that at each message it
sends and at each value of its session that it reads.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from attnviz.errors import AttnVizError

POLL_S = 0.3
MAX_WAITING = 40
Show = Callable[[int], None]
Result = TypeVar("Result")


def busy(n_waiting: int) -> AttnVizError:
    """The refusal of work where much waits already."""
    return AttnVizError(
        f"{n_waiting} runs are waiting on this server; try again in a minute",
        code="server_busy",
        found=n_waiting,
    )


@dataclass(eq=False)
class WaitingLine:
    """Those who wait or work, in the order in which they came; `n_slots` work at once."""

    n_slots: int
    most: int = MAX_WAITING
    _tickets: list[object] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _mine: threading.local = field(default_factory=threading.local)

    @contextmanager
    def turn(self, waiting: Callable[[], AbstractContextManager[Show]]) -> Iterator[None]:
        """Begin when the turn has come; `waiting` opens what shows the number before this one.

        A run that has its turn takes no second one. Raises `AttnVizError` where too many wait
        already.
        """
        if getattr(self._mine, "has_turn", False):
            yield
            return
        ticket = self._join()
        try:
            if not self._has_come(ticket, 0.0):
                with waiting() as show:
                    while not self._has_come(ticket, POLL_S):
                        show(self._n_before(ticket))
            self._mine.has_turn = True
            yield
        finally:
            self._mine.has_turn = False
            self._leave(ticket)

    @property
    def n_waiting(self) -> int:
        """The number of those who wait."""
        return max(0, len(self._tickets) - self.n_slots)

    def _join(self) -> object:
        ticket = object()
        with self._changed:
            if self.n_waiting >= self.most:
                raise busy(self.n_waiting)
            self._tickets.append(ticket)
        return ticket

    def _leave(self, ticket: object) -> None:
        with self._changed:
            self._tickets.remove(ticket)
            self._changed.notify_all()

    def _has_come(self, ticket: object, limit_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._n_before(ticket) == 0, limit_s)

    def _n_before(self, ticket: object) -> int:
        """The number of those who must end before this one may begin."""
        return max(0, self._tickets.index(ticket) - self.n_slots + 1)


# a core stays free for the clicks of the others
line = WaitingLine(max(1, (os.cpu_count() or 1) - 1))


@dataclass
class PageRun:
    """The means of the running page, which the sessions' room sets at the start of the app."""

    waiting: Callable[[], AbstractContextManager[Show]] = lambda: nullcontext(lambda _n: None)
    check: Callable[[], None] = lambda: None


page_run = PageRun()
# models and captures that something still holds, by the keys of the caches
_in_memory: "WeakValueDictionary[str, Any]" = WeakValueDictionary()


def turn() -> AbstractContextManager[None]:
    """A turn of the server's line, told on the running page."""
    return line.turn(page_run.waiting)


def in_turn(key: str, compute: Callable[[], Result]) -> Result:
    """The result of heavy work, which waits for its turn; without one if it is in memory."""
    if key in _in_memory:
        return compute()
    with turn():
        result = compute()
    _in_memory[key] = result
    return result


def check() -> None:
    """End the running page here if its tab is closed or something else was asked for."""
    page_run.check()
