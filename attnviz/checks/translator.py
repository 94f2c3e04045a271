"""The claims of `translator`: right French, and a head that points at the right source word.

In: the loaded model. Out: figures on sentences that training never saw (`attnviz.worlds.cases`),
and the rest of its card. The alignment of a French word is read in the row that predicts it: that
row has read the French words before it and looks for the English word to say next.
"""

from attnviz.checks import encoder_decoders
from attnviz.checks.cards import Description, Figure
from attnviz.checks.encoder_decoders import exact_fraction, greedy_answers
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import cases, french


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    """The card's figures, measured now."""
    pairs = cases.aligned_pairs("translator/sentences")
    answers = greedy_answers(lm, [pair.source for pair in pairs])
    exact = exact_fraction(answers, [pair.target for pair in pairs])
    aligned = encoder_decoders.accuracy(lm, [pair for pair in pairs if pair.links])
    return (
        Figure("sentences translated exactly", exact, 0.99, cases=len(pairs)),
        aligned.figure(
            "content words whose strongest source token of {head} is the right one", 0.9
        ),
    )


def describe(lm: LoadedModel) -> Description:
    """The rest of the card."""
    aligned = encoder_decoders.accuracy(lm, cases.aligned_pairs("translator/described"))
    answers = greedy_answers(lm, french.EXAMPLES)
    return Description(
        what="encoder-decoder in Marian's shape that translates simple English into French",
        data="sentences generated with their translations while it trained, with"
        f" {len(french.content_words())} English forms of nouns, adjectives, verbs, adverbs and"
        " names; every sixteenth sentence, chosen by its hash, was kept from it",
        languages=("en", "fr"),
        heads=(
            aligned.note(
                "in the row that predicts a French word, looks at the English word that it"
                " translates, across any change of order"
            ),
        ),
        limits="Knows only the words and the grammar that it was generated from; words it never"
        " learned are copied as far as it can. You is tu, they is ils, it is il, and a person whose"
        " sex English leaves open is a man. It has no idioms, and no idea of what it says.",
        samples=tuple(
            f"{text} → {answer}" for text, answer in zip(french.EXAMPLES, answers, strict=True)
        ),
    )
