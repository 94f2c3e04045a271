"""What `dates` claims: every format read, and cross-attention on the part that a digit came from.

In: the loaded model. Out: figures on dates that training never saw (attnviz.worlds.split), and the
rest of its card. A digit of the answer is aligned when its strongest source token lies in the
source's year, month or day, whichever the digit belongs to.
"""

import random

from attnviz.checks import alignment
from attnviz.checks.answers import answers, share_exact
from attnviz.checks.cards import Description
from attnviz.checks.figure import Figure
from attnviz.models.loaded import LoadedModel
from attnviz.worlds import dates

SEED, CASES, ALIGNED = 90_001, 500, 150
PARTS = ((0, 4), (5, 7), (8, 10))  # year, month and day in the answer


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    rng = random.Random(SEED)
    drawn = [dates.draw(rng, held=True) for _ in range(CASES)]
    found = answers(lm, [pair.text for pair in drawn], most=16)
    exact = share_exact(found, [pair.iso for pair in drawn])
    shares = alignment.shares(lm, cases(drawn[:ALIGNED]))
    return (
        Figure("dates written exactly", exact, 0.99, cases=CASES),
        shares.figure("digits whose strongest source token of {head} is in the right part", 0.9),
    )


def describe(lm: LoadedModel) -> Description:
    rng = random.Random(SEED + 1)
    drawn = [dates.draw(rng, held=True) for _ in range(ALIGNED)]
    shares = alignment.shares(lm, cases(drawn))
    texts = dates.EXAMPLES
    return Description(
        what="encoder-decoder in Marian's shape that turns a written date into ISO 8601",
        data=f"dates from {dates.FIRST} to {dates.LAST} in {len(dates.FORMATS)} formats, generated"
        " while it trained; every sixteenth text, chosen by its hash, was kept from it",
        languages=("en",),
        heads=(
            shares.note(
                "while it writes a digit, looks at the part of the text that says it: the"
                " year, the month's name or number, the day"
            ),
        ),
        limits="Knows these formats only. With numbers alone, dots mean day first and slashes"
        " month first. Any other text is answered with some date all the same.",
        samples=tuple(
            f"{text} → {answer}" for text, answer in zip(texts, answers(lm, texts), strict=True)
        ),
    )


def cases(drawn: list[dates.DatePair]) -> list[alignment.Case]:
    """Each digit of the answer linked to the part of the text that says it."""
    return [
        alignment.Case(
            pair.text,
            pair.iso,
            tuple(
                (part, (n, n + 1))
                for part, (start, end) in zip(pair.parts, PARTS, strict=True)
                for n in range(start, end)
            ),
        )
        for pair in drawn
    ]
