"""The pages of a process are computed one after the other, in the order of arrival.

In: the run of a page. Out: a `with` block that begins when the run's turn has come. Python computes
one page at a time in any case. If it changes between four pages of 0.1 s every few milliseconds,
all of them end after 0.4 s; one after the other they end after 0.1, 0.2, 0.3 and 0.4 s. A turn is
over after `TURN_S` even if its page is not: a page that loads a model, or waits for something, goes
on beside the next.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

TURN_S = 0.5


class PageQueue:
    """The run whose turn it is, when that ends, and the runs that wait; each is woken alone."""

    def __init__(self, turn_s: float = TURN_S) -> None:
        self.turn_s = turn_s
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._running: threading.Event | None = None
        self._ends = 0.0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Begin when all runs that came before have ended, or have had their time."""
        mine = threading.Event()
        with self._lock:
            self._waiting.append(mine)
        while (wait_s := self._begin(mine)) != 0:
            mine.wait(wait_s)
        try:
            yield
        finally:
            self._end(mine)

    def _begin(self, mine: threading.Event) -> float | None:
        """0 where the turn begins; else the seconds to wait, None until another run wakes this."""
        with self._lock:
            mine.clear()
            if self._waiting[0] is not mine:
                return None
            now = time.monotonic()
            if self._running is not None and now < self._ends:
                return self._ends - now
            self._waiting.popleft()
            self._running, self._ends = mine, now + self.turn_s
            self._wake_first()
            return 0

    def _end(self, mine: threading.Event) -> None:
        with self._lock:
            if self._running is mine:
                self._running = None
                self._wake_first()

    def _wake_first(self) -> None:
        if self._waiting:
            self._waiting[0].set()


queue = PageQueue()
