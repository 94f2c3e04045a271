"""The context of a card that is drawn: its texts in a language, and the answers so far.

In: a card with these. Out: a frozen `CardShown`, from which pictures and questions are drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from attnviz.i18n import Language
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.card import Card
from attnviz.teach.lessons.cards.grade import Verdict
from attnviz.teach.lessons.cards.texts import LessonTexts, say


@dataclass(frozen=True, eq=False)
class CardShown:
    """A card on the page, in a language, with the answers of all cards so far."""

    lang: Language
    texts: LessonTexts
    card: Card
    answers: Mapping[str, str]

    @property
    def is_open(self) -> bool:
        """True while the card's question waits for its answer."""
        return progress.is_open(self.card, self.answers)

    @property
    def answer(self) -> str:
        """The answer to the card's question, as text; "" for none."""
        return progress.answer_text(self.card.name, self.answers)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the answer; None where there is none to judge."""
        return progress.verdict(self.card, self.answers)

    def say(self, key: str, *, markup: bool = True) -> str:
        """A text of the card with its numbers."""
        return say(self.texts, self.card, key, markup)
