"""The order in which a choice's options stand, so that no place is the right one more often.

In: a card, its lesson, and what the order is drawn from: the seed of a worksheet, the code of a
class (all of its pages have one order), or seed 0 for a learner, who meets the order again. Out:
the card with its options in that order. Options on a scale ("more", "the same", "less") stay.

An option that is a picture is named by its place: texts write it as `[[place_<option>]]`.
"""

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from attnviz.teach.lessons.cards.card import Card, ChoiceQuestion


def places(options: Iterable[str]) -> dict[str, int]:
    """The places of options in their order, from 1, as numbers of a card.

    >>> places(("sharp", "flat"))
    {'place_sharp': 1, 'place_flat': 2}
    """
    return {f"place_{option}": place for place, option in enumerate(options, 1)}


def shuffled(card: Card, slug: str, draw: str) -> Card:
    """The card with its options in the order that `draw` gives them."""
    question = card.question
    if not isinstance(question, ChoiceQuestion) or question.is_scale:
        return card

    def key(option: str) -> bytes:
        return sha256(f"{slug}/{card.name}/{option}/{draw}".encode()).digest()

    order = tuple(sorted(question.options, key=key))
    return replace(
        card,
        question=replace(question, options=order),
        numbers={**card.numbers, **places(order)},
    )
