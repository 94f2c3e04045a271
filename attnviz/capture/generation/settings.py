"""The settings of a generation: a frozen `Generation`, checked when it is created.

In: a number of tokens, and how each is chosen. Out: settings that go together. No torch is imported
here, so that the settings can be built before any model is loaded.
"""

import math
from dataclasses import dataclass, fields
from operator import index

from attnviz.errors import BadInput


@dataclass(frozen=True)
class Generation:
    """The number of tokens to generate, and the way in which each is chosen.

    The likeliest token is taken unless a `temperature` (above 0) is given; then it is sampled with
    `seed` from the `top_k` likeliest tokens (0: all) whose probabilities add up to `top_p`. `beams`
    above 1 means beam search. Raises `BadInput` for numbers out of range, and for `top_k`, `top_p`
    or `seed` without a temperature, since they would change nothing.
    """

    n_tokens: int
    beams: int = 1
    temperature: float | None = None
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise BadInput(
                f"cannot generate with {self._given()}: {problem}",
                code="bad_generation",
                asked=self._given(),
            )

    def _given(self) -> str:
        """The settings that are not the usual ones."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        usual = {each.name: each.default for each in fields(self)}
        return ", ".join(
            f"{name}={found!r}" for name, found in given.items() if found != usual[name]
        )

    def _problem(self) -> str:
        """The first reason why these settings make no sense; "" if they do."""
        for name in ("n_tokens", "beams", "top_k", "seed"):
            if not _is_whole(getattr(self, name)):
                return f"give a whole number for {name}="
        if self.n_tokens < 1 or self.beams < 1:
            return "write at least one token, with at least one beam"
        unused = [name for name, plain in PLAIN.items() if getattr(self, name) != plain]
        if self.temperature is None and unused:
            return f"{' and '.join(unused)} need a temperature, and have no effect without one"
        if self.temperature is None:
            return ""
        if self.beams > 1:
            return "beam search takes no temperature; leave beams= or temperature= out"
        if not (_is_finite(self.temperature) and self.temperature > 0):
            return "the temperature must be a number above 0"
        if self.top_k < 0 or not (_is_finite(self.top_p) and 0 < self.top_p <= 1):
            return "top_k must be 0 or more, and top_p above 0 and up to 1"
        return ""

    @property
    def is_plain(self) -> bool:
        """True if the likeliest token is taken each time, without beams."""
        return self.beams == 1 and self.temperature is None


# the settings that matter only for sampling, with the values that leave everything as it is
PLAIN = {"top_k": 0, "top_p": 1.0, "seed": 0}


def as_generation(generate: object) -> Generation | None:
    """The settings for the argument `generate` of `attnviz.capture`; None if nothing is written.

    Raises `BadInput` unless it is a whole number of tokens, 0 or more, or a `Generation`.
    """
    if generate is None or isinstance(generate, Generation):
        return generate
    if not _is_whole(generate):
        raise BadInput(
            f"generate= is {generate!r}; give the number of tokens to write, or an"
            " attnviz.Generation",
            code="bad_generation",
            asked=str(generate),
        )
    n_tokens = index(generate)  # type: ignore[arg-type]
    return Generation(n_tokens) if n_tokens else None


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_whole(value: object) -> bool:
    """True for integers of any kind, numpy's too; a bool is an answer, not a number."""
    try:
        index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return not isinstance(value, bool)
