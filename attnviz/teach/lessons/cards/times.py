"""The time that a lesson takes, from its texts, and plans for a class of 45 or 90 minutes.

In: the English texts, since the other languages say the same. Out: minutes. A card counts all that
a learner comes to read at the pace of a talk, and time for its question, its experiment and its
film; who learns alone also reads the feedback on one mistake and tries half of the questions again.
A plan has cards of several lessons, in the order of
teaching; a test holds it to its minutes, with at least a sixth of them left for talking. Source of
the pace: 150 to 160 words a minute is the usual advice for talks; people who read a plain text
aloud reach 228 (Trauzettel-Klosinski and Dietz 2012).
"""

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from attnviz.i18n import DEFAULT
from attnviz.pictures.motion import SCENES
from attnviz.teach.lessons.cards.texts import PLACEHOLDER, LessonTexts, lesson_texts

WORDS_A_MINUTE = 150
CHOICE_S, ANSWER_S = 30, 60  # to choose an option; to find a cell or compute a number
EXPERIMENT_S = 60
TRIES = 1.5  # of a question by a learner alone
N_SCENES = sum(map(len, SCENES.values()))
SCENE_S = sum(sum(film.values()) for film in SCENES.values()) / 1000 / N_SCENES  # on average
HEARD = ("title", "text", "question", "reveal", "takeaway")


def card_minutes(texts: LessonTexts, card: str, in_class: bool = False) -> float:
    """The minutes of one card, for a learner or in a class."""
    of_card = texts.cards[card]
    heard = " ".join(
        template
        for key, template in of_card.items()
        if key in HEARD or key.startswith(("option.", "panel."))
    )
    n_words = float(_words(heard))
    has_options = any(key.startswith("option.") for key in of_card)
    seconds = float((CHOICE_S if has_options else ANSWER_S) * ("question" in of_card))
    if not in_class:
        seconds *= TRIES
        feedback = [_words(of_card[key]) for key in of_card if key.startswith("feedback.")]
        n_words += sum(feedback) / max(len(feedback), 1)
    is_for_doing = "question" not in of_card or any(key.startswith("control.") for key in of_card)
    seconds += EXPERIMENT_S * is_for_doing
    seconds += SCENE_S * sum(key.startswith("scene.") for key in of_card)
    return n_words / WORDS_A_MINUTE + seconds / 60


def _words(template: str) -> int:
    return len(PLACEHOLDER.sub("x", template).split())


def minutes(slug: str, cards: Iterable[str] | None = None) -> int:
    """The minutes of a lesson for a learner, or of some of its cards in a class, rounded up."""
    texts, in_class = lesson_texts(slug, DEFAULT), cards is not None
    return math.ceil(sum(card_minutes(texts, card, in_class) for card in cards or texts.cards))


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
        PlanStep("ask", ("dictionary", "weights", "values", "real")),
        PlanStep("block", ("mix", "products", "scale", "mask", "softmax", "sharper")),
        PlanStep("heads", ("views", "looks")),
    ),
    90: (
        PlanStep("where", ("next", "tokens", "vectors", "stream", "who", "mlp", "logits")),
        PlanStep("ask", ("dictionary", "score", "weights", "values", "turn", "real")),
        PlanStep("block", ("mix", "qkv", "products", "scale", "mask", "softmax", "output")),
        PlanStep("heads", ("views", "looks")),
        PlanStep("positions", ("shuffle", "broken")),
        PlanStep("places", ("three", "align", "steps")),
        PlanStep("real", ("chance", "previous", "rest", "induction")),
        PlanStep("claims", ("effect", "explains")),
    ),
}


JOINING_MIN = 4  # for thirty phones to join; part of the minutes left for talking


@dataclass(frozen=True)
class PlannedCard:
    """A card of a plan, and the minute until which it lasts, those for joining included."""

    slug: str
    card: str
    until: float


def planned_cards(plan: int) -> tuple[PlannedCard, ...]:
    """The cards of a plan one after the other; its minutes for talking are shared among them."""
    pairs = [(step.slug, card) for step in PLANS[plan] for card in step.cards]
    lengths = [card_minutes(lesson_texts(slug, DEFAULT), card) for slug, card in pairs]
    stretch = (plan - JOINING_MIN) / sum(lengths)
    ends = itertools.accumulate(lengths)
    return tuple(
        PlannedCard(slug, card, JOINING_MIN + stretch * end)
        for (slug, card), end in zip(pairs, ends, strict=True)
    )


def taken(plan: int) -> int:
    """The minutes that the cards of a plan take."""
    return sum(step.minutes for step in PLANS[plan])
