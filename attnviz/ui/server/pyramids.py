"""Pyramids of long texts, built beside the page while a visitor watches, and stopped on request.

In: a call and a head. Out: a `Build`: how far it is, and the pyramid once it is there. All
builds of the server share one thread, in the order in which they were asked for: a head of 16,384
tokens takes a second or two of one core, and two at once would each take twice as long.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

import attnviz

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.tiles import Pyramid, StrongCell

State = Literal["building", "ready", "stopped"]
THREADS = 1
LISTED = 50
SEARCH_FROM = 0.85  # of the progress: what comes after is the search for the strongest cells


@dataclass(eq=False)
class Build:
    """A pyramid that is being built, that is there, or that someone stopped."""

    cancel: threading.Event = field(default_factory=threading.Event)
    fraction: float = 0.0
    future: "Future[Pyramid]" = field(default_factory=Future)
    found: "dict[int | None, tuple[StrongCell, ...]]" = field(default_factory=dict)

    @property
    def state(self) -> State:
        """Stopped as soon as that was asked for, though the thread may need a moment."""
        if self.cancel.is_set():
            return "stopped"
        return "ready" if self.future.done() else "building"

    def stop(self) -> None:
        """Give it up, unless it is there already."""
        if not self.future.done():
            self.cancel.set()
            self.future.cancel()

    def wait(self, limit_s: float) -> None:
        """Return when it is done, or after so many seconds."""
        wait([self.future], timeout=limit_s)

    def pyramid(self) -> "Pyramid | None":
        """The pyramid once it is ready; raises what went wrong while it was built."""
        return self.future.result() if self.state == "ready" else None

    def strongest(self, distance: int | None) -> "tuple[StrongCell, ...]":
        """The strongest cells of a pyramid that is ready, with the first key left out, or all.

        `distance` is how far apart query and key are at least; None where they are other tokens.
        """
        if distance not in self.found:
            self.found[distance] = self._search(self.future.result(), distance, ignore)
        return self.found[distance]

    def run(self, call: "AttentionCall", head: int, distance: int | None) -> None:
        """Do the work, in a thread of its own."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            pyramid = attnviz.tiles.build(
                call, head, progress=self._part(0.0, SEARCH_FROM), cancel=self.cancel
            )
            self.found[distance] = self._search(pyramid, distance, self._part(SEARCH_FROM, 1.0))
            self.future.set_result(pyramid)
        except Exception as error:  # handed to whoever asks for the pyramid
            self.future.set_exception(error)

    def _search(
        self, pyramid: "Pyramid", distance: int | None, progress: Callable[[float], None]
    ) -> "tuple[StrongCell, ...]":
        return attnviz.tiles.strongest(
            pyramid,
            LISTED,
            diagonal=None if distance is None else distance - 1,
            first_keys=0 if distance is None else 1,
            progress=progress,
            cancel=self.cancel,
        )

    def _part(self, start: float, stop: float) -> Callable[[float], None]:
        def note(fraction: float) -> None:
            self.fraction = start + fraction * (stop - start)

        return note


def start(call: "AttentionCall", head: int, distance: int | None) -> Build:
    """Begin to build, and to find the strongest cells, as soon as the thread is free."""
    build = Build()
    _pool().submit(build.run, call, head, distance)
    return build


def ignore(_fraction: float) -> None:
    """The progress of work that nobody watches."""


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="attnviz-tiles")
