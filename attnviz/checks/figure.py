"""A figure that a model reached, beside the one that it was to reach.

In: numbers that a check measured. Out: a frozen `Figure`, printed as one line. Nothing is loaded
here, so that a page can show a card before torch is in memory.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured claim: `name` says what was measured, `cases` on how many."""

    name: str
    value: float
    target: float
    at_least: bool = True
    cases: int = 0

    @property
    def reached(self) -> bool:
        """Whether the target was reached; NaN reaches nothing."""
        return self.value >= self.target if self.at_least else self.value <= self.target

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        verdict = "ok" if self.reached else "MISSED"
        on = f" on {self.cases}" if self.cases else ""
        return f"{verdict:6} {self.name}: {self.value:.4g} (target {sign} {self.target:g}){on}"
