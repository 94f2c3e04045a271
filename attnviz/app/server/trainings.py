"""Trainings of the tiny transformer, run by a job while a visitor watches.

In: a seed, and a function that yields snapshots. Out: a `Training`, whose snapshots grow until its
job is over.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from attnviz.app.server import jobs, loading
from attnviz.app.server.jobs import Job
from attnviz.app.server.shared import shared
from attnviz.app.server.watchers import watched

if TYPE_CHECKING:
    from attnviz.teach.course.toy_model import TrainingSnapshot

MAX_TRAININGS = 6
# a member's training in a class: by then the circuit has formed (docs/lessons.md)
BIRTH_STEPS, BIRTH_EVERY = 112, 8
STEP_S = 0.05  # about

Train = Callable[[threading.Event], "Iterable[TrainingSnapshot]"]


@dataclass(eq=False)
class Training:
    """The snapshots of a training so far, to which its job adds.

    All visitors who ask for a seed watch one training; `owner` is the visitor who began it.
    """

    seed: int
    n_steps: int
    owner: str = ""
    snapshots: "list[TrainingSnapshot]" = field(default_factory=list)
    job: Job = field(default_factory=Job)

    @property
    def key(self) -> str:
        """A name of all that determines the snapshots of a training that is over."""
        return f"{self.seed} {self.n_steps}"


def training(seed: int, owner: str = "", n_steps: int | None = None) -> Training:
    """The training of a seed; its job starts at the first call; the first visitor is its owner.

    `n_steps` is its length, None for that of the lesson.
    """
    begun = watched(_training, seed, n_steps)
    begun.owner = begun.owner or owner
    return begun


def start_birth(seed: int, tell: Callable[[tuple[int, ...]], None]) -> Job:
    """Begin to train a seed until its circuit is there; `tell` hears the scores after each part.

    The scores are those of the best head of layer 1 for induction, in thousandths.
    """
    with loading.importing:
        from attnviz.teach.course import toy_model

    def work(job: Job) -> None:
        import torch

        torch.set_num_threads(loading.TORCH_THREADS)
        scores: list[int] = []
        steps = toy_model.train(seed, steps=BIRTH_STEPS, every=BIRTH_EVERY, cancel=job.cancel)
        for snapshot in steps:
            scores.append(round(1000 * snapshot.repeated.best_induction))
            tell(tuple(scores))
            job.report(snapshot.step / BIRTH_STEPS)

    return jobs.start(work, BIRTH_STEPS * STEP_S)


def forget(seed: int) -> None:
    """Train anew when that seed is asked for again."""
    _training.forget(seed, None)


@shared(most=MAX_TRAININGS, on_release=jobs.stop)
def _training(seed: int, n_steps: int | None) -> Training:
    return begin(seed, n_steps)


def start(seed: int, n_steps: int, train: Train) -> Training:
    """Begin to train as soon as a thread is free."""
    training = Training(seed, n_steps)

    def work(job: Job) -> None:
        for snapshot in train(job.cancel):
            training.snapshots.append(snapshot)
            job.report(snapshot.step / n_steps)

    training.job = jobs.start(work, n_steps * STEP_S)
    return training


def begin(seed: int, n_steps: int | None = None) -> Training:
    """Begin to train the tiny transformer of the lesson from a seed; None for all its steps."""
    with loading.importing:
        from attnviz.teach.course import toy_model

    length = toy_model.STEPS if n_steps is None else n_steps

    def train(cancel: threading.Event) -> "Iterable[TrainingSnapshot]":
        import torch

        torch.set_num_threads(loading.TORCH_THREADS)
        return toy_model.train(seed, steps=length, cancel=cancel)

    toy_model.require_seed(seed)
    return start(seed, length, train)
