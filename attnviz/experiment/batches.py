"""Changed rows in batches: a number after each, with progress and a way to stop.

In: groups of row changes, such as the draws of one head. Out: the mean number after each group, and
how far the clean rows of the batches are from the number before.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from attnviz.capture.changed.changer import CallPlace
from attnviz.errors import Cancelled
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.rows import Baseline, RowChange, changed_rows


def require_wanted(cancel: threading.Event | None) -> None:
    """Raise `Cancelled` if the work is to stop."""
    if cancel is not None and cancel.is_set():
        raise Cancelled("stopped on request; call again for the effects", code="cancelled")


@dataclass(frozen=True, eq=False)
class Batches:
    """Rows of changed copies of one input, at most `rows` in a batch."""

    prepared: CleanRun
    clean: Baseline
    rows: int
    progress: Callable[[float], None]
    cancel: threading.Event | None

    def run(
        self, changes: Sequence[Sequence[RowChange]]
    ) -> tuple[Float64[np.ndarray, " group"], float]:
        """(the mean number after each group of rows, how far clean rows are from the clean pass).

        Raises `Cancelled` soon after `cancel` was set.
        """
        flat = [(at, change) for at, group in enumerate(changes) for change in group]
        sums, spread, done = np.zeros(len(changes)), 0.0, 0
        for batch in self._batches(flat):
            require_wanted(self.cancel)
            numbers, own = changed_rows(self.prepared, self.clean, [change for _, change in batch])
            for (at, _), number in zip(batch, numbers.double().tolist(), strict=True):
                sums[at] += number - own
            spread = max(spread, abs(own - self.clean.value))
            done += len(batch)
            self.progress(done / len(flat))
        counts = np.array([len(group) for group in changes])
        return self.clean.value + sums / counts, spread

    def _batches(
        self, flat: Sequence[tuple[int, RowChange]]
    ) -> Iterator[Sequence[tuple[int, RowChange]]]:
        """At most `rows` at a time; where a pass is resumed, those of one call together."""
        groups: dict[CallPlace | None, list[tuple[int, RowChange]]] = {}
        for at, change in flat:
            place = change.calls[0].place
            key = place if place in self.clean.finished.before else None
            groups.setdefault(key, []).append((at, change))
        for group in groups.values():
            for start in range(0, len(group), self.rows):
                yield group[start : start + self.rows]
