"""Work that runs beside the page while a visitor watches, with progress, cancel and error.

In: a function that takes its `Job`. Out: the job at once; the function runs in one of the few
threads that all visitors of the server share, the shortest first and one long one of a visitor at a
time. What the function makes, it keeps where its caller looks for it. Between two pieces of its
work a job lets the pages go first. The threads are daemons: the server's end waits for no work that
looks at its `cancel` too seldom.
"""

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Literal, Protocol
from weakref import WeakSet

from attnviz.app.server import page_queue, turns, visitors
from attnviz.app.server.unexpected import logged
from attnviz.errors import AttnVizError, Cancelled

State = Literal["waiting", "running", "done", "stopped", "failed"]

# a training does not hold up a head that someone else looks at
THREADS = 2
MAX_WAITING = 40
SHORT_S = 10.0  # what nobody estimates counts as short
GIVE_WAY_S = 1.0  # the most that one piece waits for pages: among many visitors it goes on, slowly
LOOK_S = 0.05


@dataclass(eq=False)
class Job:
    """Work that waits, runs, or is over. `fraction` is how much is done, 0 to 1.

    The work looks at `cancel` from time to time and raises `Cancelled` when it is set. `error` says
    what it raised otherwise; what is not ours goes to the log. `watchers` are the sessions that
    asked for it; it `was_given_up` if the last of these went.
    """

    cancel: threading.Event = field(default_factory=threading.Event)
    fraction: float = 0.0
    error: AttnVizError | None = None
    watchers: set[str] = field(default_factory=set)
    was_given_up: bool = False
    _awaited: bool = False
    _begun: bool = False
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def state(self) -> State:
        """Stopped as soon as that was asked for, though the thread may need a moment."""
        if self.error is not None:
            return "failed"
        if self.cancel.is_set():
            return "stopped"
        if self._ended.is_set():
            return "done"
        return "running" if self._begun else "waiting"

    @property
    def over(self) -> bool:
        """True if nothing more will come."""
        return self.state in ("done", "stopped", "failed")

    def stop(self) -> None:
        """Give the work up, unless it is over."""
        if not self.over:
            self.cancel.set()

    def wait(self, limit_s: float) -> None:
        """Return when the thread is done with this work, or after so many seconds.

        The page that waits is not let go first meanwhile.
        """
        self._awaited = True
        self._ended.wait(limit_s)
        self._awaited = False

    def report(self, fraction: float) -> None:
        """Set how much of the work is done; returns when no page is under way."""
        self.fraction = fraction
        ends = time.monotonic() + GIVE_WAY_S
        while not (self._awaited or self.cancel.is_set() or time.monotonic() > ends):
            if page_queue.queue.wait_for_none(LOOK_S):
                return

    def leave(self, session: str) -> None:
        """Take a session from the watchers; give the work up with the last of them."""
        self.watchers.discard(session)
        if not self.watchers and not self.over:
            self.give_up()

    def give_up(self) -> None:
        """Stop the work because nobody watches; who asks for it again has it begun anew."""
        self.was_given_up = True
        self.stop()

    def run(self, work: "Callable[[Job], None]") -> None:
        """Do the work in this thread, unless it was stopped while it waited."""
        try:
            if not self.cancel.is_set():
                self._begun = True
                work(self)
        except Cancelled:
            self.cancel.set()
        except AttnVizError as error:
            self._fail(error.again())
        except Exception:
            self._fail(logged("job"))
        finally:
            self._ended.set()

    def _fail(self, error: AttnVizError) -> None:
        if not self.cancel.is_set():
            self.error = error

    def raise_error(self) -> None:
        """Raise what the work raised, if anything."""
        if self.error is not None:
            raise self.error.again()


class HasJob(Protocol):
    """The result of a job, with the job."""

    job: Job


@dataclass(eq=False)
class _Waiting:
    """A job that waits, with its work, the visitor who started it, and how long it may take."""

    job: Job
    work: Callable[[Job], None]
    visitor: str
    estimate_s: float


@dataclass(eq=False)
class JobLine:
    """The jobs that wait and the visitors of those that run.

    The shortest is the next. While a visitor's job runs, another of the same visitor waits, unless
    it is short: who opens many tabs holds up nobody else for long.
    """

    threads: int = THREADS
    most: int = MAX_WAITING
    _waiting: list[_Waiting] = field(default_factory=list)
    _running: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def n_waiting(self) -> int:
        """The number of jobs that wait and are not given up."""
        return sum(not waiting.job.over for waiting in list(self._waiting))

    def start(self, work: Callable[[Job], None], visitor: str, estimate_s: float) -> Job:
        """Begin the work as soon as its turn comes; `AttnVizError` where too much waits."""
        job = Job()
        with self._lock:
            if self.n_waiting >= self.most:
                raise turns.busy(self.n_waiting)
            self._waiting.append(_Waiting(job, work, visitor, estimate_s))
        self._begin()
        return job

    def _begin(self) -> None:
        """Begin as many jobs as there are free threads for."""
        with self._lock:
            while len(self._running) < self.threads and (chosen := self._next()) is not None:
                self._waiting.remove(chosen)
                self._running.append(chosen.visitor)
                threading.Thread(
                    target=self._run, args=(chosen,), name="attnviz-job", daemon=True
                ).start()

    def _next(self) -> _Waiting | None:
        """The shortest job that may begin, of equal ones the first; one given up ends at once."""
        return min(
            (
                waiting
                for waiting in self._waiting
                if waiting.job.over
                or waiting.estimate_s <= SHORT_S
                or not waiting.visitor
                or waiting.visitor not in self._running
            ),
            key=lambda waiting: (not waiting.job.over, waiting.estimate_s),
            default=None,
        )

    def _run(self, chosen: _Waiting) -> None:
        try:
            chosen.job.run(chosen.work)
        finally:
            with self._lock:
                self._running.remove(chosen.visitor)
            self._begin()


line = JobLine()
_started: WeakSet[Job] = WeakSet()


def start(work: Callable[[Job], None], estimate_s: float = SHORT_S) -> Job:
    """Begin the work of the running page's visitor as soon as a thread is free for it."""
    job = line.start(work, visitors.name(), estimate_s)
    _started.add(job)
    return job


def stop(begun: HasJob) -> None:
    """Give up the work of a result that is let go."""
    begun.job.stop()


def stop_all() -> None:
    """Give up all work, as the server stops."""
    for job in list(_started):
        job.stop()


def stop_unwatched(sessions: Collection[str]) -> None:
    """Give up the work of which no watcher is among the sessions that are still there."""
    for job in list(_started):
        if job.watchers and not job.over and job.watchers.isdisjoint(sessions):
            job.give_up()


def waiting() -> int:
    """The number of jobs that wait for a thread."""
    return line.n_waiting
