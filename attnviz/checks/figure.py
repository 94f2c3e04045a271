"""A measured figure of a model, beside its target.

In: numbers that a check measured. Out: a frozen `Figure`, printed as one line. Imports nothing
heavy, so that a page can show a card before torch is in memory.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured claim: `name` states what was measured, `cases` on how many examples."""

    name: str
    value: float
    target: float
    at_least: bool = True
    cases: int = 0

    @property
    def reached(self) -> bool:
        """True if the value reaches its target; NaN never does."""
        return self.value >= self.target if self.at_least else self.value <= self.target

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        verdict = "ok" if self.reached else "MISSED"
        on = f" on {self.cases}" if self.cases else ""
        return f"{verdict:6} {self.name}: {self.value:.4g} (target {sign} {self.target:g}){on}"
