"""Pyramids of the heads of long texts, built by a job while a visitor watches.

In: a call and a head. Out: a `HeadPyramid`: its job, and the pyramid with its strongest cells once
they are there. A head of 16,384 tokens takes a second or two of one core.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import attnviz
from attnviz.app.server import jobs
from attnviz.app.server.jobs import Job
from attnviz.app.server.shared import shared
from attnviz.app.server.watchers import watched

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.tiles import Pyramid, StrongCell

MAX_PYRAMIDS = 8  # the largest keeps 13 MB
N_CELLS = 50
# of the progress: the rest is the search for the strongest cells
BUILT = 0.85


@dataclass(eq=False)
class HeadPyramid:
    """The pyramid of one head, which its job builds.

    `cells` are the strongest cells by the least distance of query and key; None where these are
    different tokens.
    """

    job: Job = field(default_factory=Job)
    pyramid: "Pyramid | None" = None
    cells: "dict[int | None, tuple[StrongCell, ...]]" = field(default_factory=dict)

    def ready(self) -> "Pyramid | None":
        """The pyramid once it is there; raises the error of its job."""
        self.job.raise_error()
        return self.pyramid if self.job.state == "done" else None

    def strongest(self, distance: int | None) -> "tuple[StrongCell, ...]":
        """The strongest cells at that distance or more, the first key left out, or all cells."""
        if distance not in self.cells and self.pyramid is not None:
            self.cells[distance] = _search(self.pyramid, distance, Job())
        return self.cells[distance]


def pyramid(key: str, call: "AttentionCall", head: int, distance: int | None) -> HeadPyramid:
    """The pyramid of one head, which `key` names; its job starts at the first call.

    With it come the strongest cells whose query and key are at least that far apart.
    """
    call.check(head, 0)
    return watched(_pyramid, key, call, head, distance)


def forget(key: str) -> None:
    """Build that pyramid anew when it is asked for again."""
    _pyramid.forget(key)


@shared(most=MAX_PYRAMIDS, on_release=jobs.stop)
def _pyramid(key: str, _call: "AttentionCall", _head: int, _distance: int | None) -> HeadPyramid:
    return start(_call, _head, _distance)


def start(call: "AttentionCall", head: int, distance: int | None) -> HeadPyramid:
    """Begin to build, and to find the strongest cells, as soon as a thread is free."""
    result = HeadPyramid()

    def work(job: Job) -> None:
        pyramid = attnviz.tiles.build(
            call, head, progress=_part(job, 0.0, BUILT), cancel=job.cancel
        )
        result.cells[distance] = _search(pyramid, distance, job)
        result.pyramid = pyramid

    result.job = jobs.start(work)
    return result


def _search(pyramid: "Pyramid", distance: int | None, job: Job) -> "tuple[StrongCell, ...]":
    return attnviz.tiles.strongest(
        pyramid,
        N_CELLS,
        diagonal=None if distance is None else distance - 1,
        first_keys=0 if distance is None else 1,
        progress=_part(job, BUILT, 1.0),
        cancel=job.cancel,
    )


def _part(job: Job, start: float, stop: float) -> Callable[[float], None]:
    """A callback that reports the progress of one part of a job."""

    def report(fraction: float) -> None:
        job.report(start + fraction * (stop - start))

    return report
