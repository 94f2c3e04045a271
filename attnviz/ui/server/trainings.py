"""Trainings of the tiny transformer, run beside the page while a visitor watches.

In: a seed. Out: a `Training`, whose snapshots grow until it is done, stopped or failed. One runs at
a time for all visitors of a server; the others wait for their turn.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

from attnviz.errors import Cancelled

if TYPE_CHECKING:
    from attnviz.course.birth import TrainingSnapshot

State = Literal["waiting", "running", "done", "stopped", "failed"]

Train = Callable[[threading.Event], "Iterable[TrainingSnapshot]"]


@dataclass(eq=False)
class Training:
    """A training that waits, runs, is over, or was stopped. `error` says why one failed."""

    seed: int
    n_steps: int
    cancel: threading.Event = field(default_factory=threading.Event)
    snapshots: "list[TrainingSnapshot]" = field(default_factory=list)
    state: State = "waiting"
    error: Exception | None = None

    @property
    def fraction(self) -> float:
        """How much of it is done, 0 to 1."""
        return self.snapshots[-1].step / self.n_steps if self.snapshots else 0.0

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "stopped", "failed")

    def stop(self) -> None:
        """Give it up, unless it is over."""
        self.cancel.set()
        if self.state == "waiting":
            self.state = "stopped"

    def run(self, train: Train) -> None:
        """Do the work, in a thread of its own."""
        if self.cancel.is_set():
            return
        self.state = "running"
        try:
            self.snapshots.extend(train(self.cancel))
            self.state = "done"
        except Cancelled:
            self.state = "stopped"
        except Exception as error:  # shown to whoever watches
            self.error, self.state = error, "failed"


def start(seed: int, n_steps: int, train: Train) -> Training:
    """Begin as soon as the thread is free."""
    training = Training(seed, n_steps)
    _pool().submit(training.run, train)
    return training


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="attnviz-training")
