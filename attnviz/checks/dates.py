"""The claims of `dates`: every format read, and cross-attention on the part that a digit came from.

In: the loaded model. Out: figures on dates that training never saw (`worlds.is_held_out`), and the
rest of its card. A digit of the answer is aligned if its strongest source token lies in the
source's year, month or day, whichever the digit belongs to.
"""

import random

from attnviz.checks import encoder_decoders
from attnviz.checks.cards import Description, Figure
from attnviz.checks.encoder_decoders import exact_fraction, greedy_answers
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import dates
from attnviz.worlds.cases import AlignedPair

SEED, N_CASES, N_ALIGNED = 90_001, 500, 150
PARTS = ((0, 4), (5, 7), (8, 10))  # year, month and day in the answer


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    """The card's figures, measured now."""
    rng = random.Random(SEED)
    pairs = [dates.draw(rng, held_out=True) for _ in range(N_CASES)]
    answers = greedy_answers(lm, [pair.text for pair in pairs], max_tokens=16)
    exact = exact_fraction(answers, [pair.iso for pair in pairs])
    aligned = encoder_decoders.accuracy(lm, [with_links(pair) for pair in pairs[:N_ALIGNED]])
    return (
        Figure("dates written exactly", exact, 0.99, cases=N_CASES),
        aligned.figure("digits whose strongest source token of {head} is in the right part", 0.9),
    )


def describe(lm: LoadedModel) -> Description:
    """The rest of the card."""
    rng = random.Random(SEED + 1)
    pairs = [with_links(dates.draw(rng, held_out=True)) for _ in range(N_ALIGNED)]
    aligned = encoder_decoders.accuracy(lm, pairs)
    answers = greedy_answers(lm, dates.EXAMPLES)
    return Description(
        what="encoder-decoder in Marian's shape that turns a written date into ISO 8601",
        data=f"dates from {dates.FIRST} to {dates.LAST} in {len(dates.FORMATS)} formats, generated"
        " while it trained; every sixteenth text, chosen by its hash, was kept from it",
        languages=("en",),
        heads=(
            aligned.note(
                "while it writes a digit, looks at the part of the text that says it: the"
                " year, the month's name or number, the day"
            ),
        ),
        limits="Knows these formats only. With numbers alone, dots mean day first and slashes"
        " month first. Any other text is answered with some date all the same.",
        samples=tuple(
            f"{text} → {answer}" for text, answer in zip(dates.EXAMPLES, answers, strict=True)
        ),
    )


def with_links(pair: dates.DatePair) -> AlignedPair:
    """A date with each digit of its answer linked to the part of the text that says it."""
    links = tuple(
        (part, (digit, digit + 1))
        for part, (start, end) in zip(pair.parts, PARTS, strict=True)
        for digit in range(start, end)
    )
    return AlignedPair(pair.text, pair.iso, links)
