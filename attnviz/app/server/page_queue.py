"""The pages of a process are computed one after the other, in the order of arrival.

In: the run of a page. Out: a `with` block that begins when the run's turn has come. Python computes
one page at a time in any case. If it changes between four pages of 0.1 s every few milliseconds,
all of them end after 0.4 s; one after the other they end after 0.1, 0.2, 0.3 and 0.4 s. A turn is
over after `TURN_S` even if its page is not: a page that loads a model, or waits for something, goes
on beside the next. One visitor is no crowd: who opens many tabs has one of its pages in the line
for each eight, and the next when that has ended or has had `PATIENCE_S`. Work beside the pages asks
whether any is under way, and lets it go first; what nobody asked for is not begun on a busy server.
"""

import math
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

TURN_S = 0.5
PATIENCE_S = 5.0  # for a page of the same visitor, which may load a model
RECENT_S = 30.0  # how far back `busy_share` looks, about
TABS = 8  # of one address, as that of a school, to one page in the line


@dataclass
class _Visitor:
    """The runs of one visitor: those in the line, with the time at which each began, and others."""

    waiting: deque[threading.Event] = field(default_factory=deque)
    inside: dict[threading.Event, float] = field(default_factory=dict)

    def wait_s(self, now: float) -> float | None:
        """0 if one more may go into the line; else the time until that, None if it is not known."""
        room = 1 + (len(self.waiting) + len(self.inside)) // TABS
        held = sorted(began for began in self.inside.values() if now - began < PATIENCE_S)
        if len(held) < room:
            return 0
        return held[-room] + PATIENCE_S - now if held[-room] < float("inf") else None


class PageQueue:
    """The run whose turn it is, when that ends, and the runs that wait; each is woken alone."""

    def __init__(self, turn_s: float = TURN_S, clock: Callable[[], float] = time.monotonic) -> None:
        self.turn_s, self._clock = turn_s, clock
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._running: threading.Event | None = None
        self._ends = 0.0
        self._visitors: defaultdict[str, _Visitor] = defaultdict(_Visitor)
        self._n_runs = 0
        self._share, self._noted = 0.0, clock()
        self._none = threading.Event()
        self._none.set()

    @property
    def n_runs(self) -> int:
        """The number of runs that wait or are under way, with the one that asks."""
        return self._n_runs

    @property
    def busy_share(self) -> float:
        """The share of the last half minute, about, in which a run waited or was under way."""
        with self._lock:
            self._note_share()
            return self._share

    def _note_share(self) -> None:
        now = self._clock()
        kept = math.exp((self._noted - now) / RECENT_S)
        self._share = kept * self._share + (1 - kept) * (self._n_runs > 0)
        self._noted = now

    def wait_for_none(self, limit_s: float) -> bool:
        """True as soon as no run waits or is under way; False after so many seconds."""
        return self._none.wait(limit_s)

    @contextmanager
    def turn(self, visitor: str = "") -> Iterator[None]:
        """Begin when all runs that came before have ended, or have had their time.

        A run of a visitor who is named goes into the line when the visitor's other runs allow it.
        """
        mine = threading.Event()
        with self._counted():
            if visitor:
                self._enter(visitor, mine)
            with self._lock:
                self._waiting.append(mine)
            while (wait_s := self._begin(mine)) != 0:
                mine.wait(wait_s)
            try:
                if visitor:
                    self._note_begin(visitor, mine)
                yield
            finally:
                self._end(mine)
                if visitor:
                    self._leave(visitor, mine)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._note_share()
            self._n_runs += 1
            self._none.clear()
        try:
            yield
        finally:
            with self._lock:
                self._note_share()
                self._n_runs -= 1
                if not self._n_runs:
                    self._none.set()

    def _enter(self, visitor: str, mine: threading.Event) -> None:
        """Wait until one more run of this visitor may go into the line."""
        with self._lock:
            runs = self._visitors[visitor]
            runs.waiting.append(mine)
            self._wake_next(runs)  # one more run may make room for one more in the line
        while (wait_s := self._admitted(visitor, mine)) != 0:
            mine.wait(wait_s)

    def _admitted(self, visitor: str, mine: threading.Event) -> float | None:
        """0 where the run goes into the line; else as `_Visitor.wait_s`."""
        with self._lock:
            mine.clear()
            runs = self._visitors[visitor]
            if runs.waiting[0] is not mine:
                return None
            wait_s = runs.wait_s(time.monotonic())
            if wait_s == 0:
                runs.waiting.popleft()
                runs.inside[mine] = float("inf")  # it has not begun
                self._wake_next(runs)
            return wait_s

    def _note_begin(self, visitor: str, mine: threading.Event) -> None:
        with self._lock:
            runs = self._visitors[visitor]
            runs.inside[mine] = time.monotonic()
            self._wake_next(runs)

    def _leave(self, visitor: str, mine: threading.Event) -> None:
        with self._lock:
            runs = self._visitors[visitor]
            del runs.inside[mine]
            self._wake_next(runs)
            if not (runs.inside or runs.waiting):
                del self._visitors[visitor]

    def _wake_next(self, runs: _Visitor) -> None:
        if runs.waiting:
            runs.waiting[0].set()

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
