"""Limits on events: those of the last seconds, counted by who caused them, in this process.

In: names and times. Out: a refusal of what comes too often. A code of a class has 30 random bits:
it cannot be guessed only because wrong codes are counted, for each visitor and for the server.
"""

import threading
from collections import defaultdict, deque

MAX_NAMES = 2000


class Rate:
    """At most `count` events in `span_s` seconds for each name."""

    def __init__(self, count: int, span_s: float) -> None:
        self.count, self.span_s = count, span_s
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def is_spent(self, name: str, now: float) -> bool:
        """True if this name has caused as many events as it may."""
        with self._lock:
            return self._is_spent(name, now)

    def note(self, name: str, now: float) -> None:
        """Count an event."""
        with self._lock:
            self._note(name, now)

    def takes(self, name: str, now: float) -> bool:
        """True if one more event is allowed, which is counted then."""
        with self._lock:
            if self._is_spent(name, now):
                return False
            self._note(name, now)
            return True

    def _is_spent(self, name: str, now: float) -> bool:
        return name in self._times and len(self._recent(name, now)) >= self.count

    def _note(self, name: str, now: float) -> None:
        if name not in self._times and len(self._times) >= MAX_NAMES:
            self._forget_old(now)
        self._recent(name, now).append(now)

    def _recent(self, name: str, now: float) -> deque[float]:
        times = self._times[name]
        while times and now - times[0] >= self.span_s:
            times.popleft()
        return times

    def _forget_old(self, now: float) -> None:
        """Remove the names without an event of late, or else the oldest half."""
        by_age = sorted(self._times, key=lambda name: max(self._recent(name, now), default=0.0))
        for name in by_age[: MAX_NAMES // 2]:
            del self._times[name]
