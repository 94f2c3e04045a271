"""What `translator` claims: right French, and a head whose strongest source word is the right one.

In: the loaded model. Out: figures on sentences that training never saw (attnviz.worlds.split), and
the rest of its card. The alignment of a French word is read in the row that predicts it: that row
has read the French words before it and looks for the English word to say next.
"""

import random

from attnviz.checks import alignment
from attnviz.checks.answers import answers, share_exact
from attnviz.checks.cards import Description
from attnviz.checks.figure import Figure
from attnviz.models.loaded import LoadedModel
from attnviz.worlds.french import sentences
from attnviz.worlds.french.spelling import word_spans
from attnviz.worlds.french.words import known_words

SEED, CASES, ALIGNED = 90_002, 500, 150


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    rng = random.Random(SEED)
    drawn = [sentences.draw(rng, held=True) for _ in range(CASES)]
    found = answers(lm, [pair.english for pair in drawn])
    exact = share_exact(found, [pair.french for pair in drawn])
    shares = alignment.shares(lm, [case(pair) for pair in drawn[:ALIGNED]])
    return (
        Figure("sentences translated exactly", exact, 0.99, cases=CASES),
        shares.figure("content words whose strongest source token of {head} is the right one", 0.9),
    )


def describe(lm: LoadedModel) -> Description:
    rng = random.Random(SEED + 1)
    shares = alignment.shares(lm, [case(sentences.draw(rng, held=True)) for _ in range(ALIGNED)])
    texts = sentences.EXAMPLES
    return Description(
        what="encoder-decoder in Marian's shape that translates simple English into French",
        data="sentences generated with their translations while it trained, with"
        f" {len(known_words())} English forms of nouns, adjectives, verbs, adverbs and names; every"
        " sixteenth sentence, chosen by its hash, was kept from it",
        languages=("en", "fr"),
        heads=(
            shares.note(
                "in the row that predicts a French word, looks at the English word that it"
                " translates, across any change of order"
            ),
        ),
        limits="Knows only the words and the grammar that it was generated from; words it never"
        " learned are copied as far as it can. You is tu, they is ils, it is il, and a person whose"
        " sex English leaves open is a man. It has no idioms, and no idea of what it says.",
        samples=tuple(
            f"{text} → {answer}" for text, answer in zip(texts, answers(lm, texts), strict=True)
        ),
    )


def case(pair: sentences.Pair) -> alignment.Case:
    """A pair with its links as characters."""
    english, target = word_spans(pair.english), word_spans(pair.french)
    return alignment.Case(
        pair.english,
        pair.french,
        tuple((english[source], target[to]) for source, to in pair.links),
    )
