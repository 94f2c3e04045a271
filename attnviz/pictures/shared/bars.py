"""One bar of an answer, as several canvases draw it with `bars.js`.

In: a name and a probability, or another amount. Out: frozen data.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One row. `second` is drawn as a tick; `mark` says in words why the row is set apart."""

    label: str
    value: float
    second: float | None = None
    mark: str = ""
    muted: bool = False
