"""Plans for a class of 45 or 90 minutes: cards of several lessons, in the order of teaching.

In: the number of minutes. Out: the cards of each lesson. A test computes their time (see `times`)
and holds a plan to its minutes, with at least a sixth of them left for talking.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from attnviz.teach.lessons.cards.times import minutes


@dataclass(frozen=True)
class PlanStep:
    """Some cards of a lesson."""

    slug: str
    cards: tuple[str, ...]

    @property
    def minutes(self) -> int:
        """The minutes of these cards, rounded up."""
        return minutes(self.slug, self.cards)


PLANS: Mapping[int, tuple[PlanStep, ...]] = {
    45: (
        PlanStep("where", ("next", "tokens", "stream", "who")),
        PlanStep("ask", ("roles", "score", "turn", "real")),
        PlanStep("block", ("mix", "products", "scale", "mask", "softmax", "sharper")),
        PlanStep("heads", ("views", "looks")),
    ),
    90: (
        PlanStep("where", ("next", "tokens", "vectors", "stream", "who", "mlp", "logits")),
        PlanStep("ask", ("roles", "score", "onehot", "turn", "real")),
        PlanStep("block", ("mix", "qkv", "products", "scale", "mask", "softmax", "output")),
        PlanStep("heads", ("views", "looks")),
        PlanStep("positions", ("shuffle", "broken")),
        PlanStep("places", ("three", "align", "steps")),
        PlanStep("real", ("chance", "previous", "rest", "induction")),
        PlanStep("claims", ("effect", "explains")),
    ),
}


def taken(plan: int) -> int:
    """The minutes that the cards of a plan take."""
    return sum(step.minutes for step in PLANS[plan])
