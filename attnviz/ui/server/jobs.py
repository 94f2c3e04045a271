"""Work that runs beside the page while a visitor watches, with progress, cancel and error.

In: a function that takes its `Job`. Out: the job at once; the function runs in a thread that all
visitors of the server share, in the order in which jobs were started. What the function makes, it
keeps where its caller looks for it.
"""

import threading
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, Protocol
from weakref import WeakSet

from attnviz.errors import AttnVizError, Cancelled
from attnviz.ui.server.unexpected import logged

State = Literal["waiting", "running", "done", "stopped", "failed"]

# a training does not hold up a head that someone else looks at
THREADS = 2


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
        """Return when the thread is done with this work, or after so many seconds."""
        self._ended.wait(limit_s)

    def report(self, fraction: float) -> None:
        """Set how much of the work is done."""
        self.fraction = fraction

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


_started: WeakSet[Job] = WeakSet()


def start(work: Callable[[Job], None]) -> Job:
    """Begin the work as soon as a thread is free."""
    job = Job()
    _started.add(job)
    _pool().submit(job.run, work)
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
            job.was_given_up = True
            job.stop()


def waiting() -> int:
    """The number of jobs that wait for a thread."""
    return _pool()._work_queue.qsize()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="attnviz-job")
