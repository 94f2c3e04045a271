"""What `sentiment` claims: right about praise and blame, also where a negation says it.

In: the loaded model. Out: accuracy on reviews from seeds that training never used, all and negated
ones apart, and two heads. The *follower*: the mean weight from the judging word to its negator,
held against the weight from the same word to what stands in the negator's place in the sentence's
twin ("was not good", "was really good"). The *collector*: the mean weight from [CLS] to the judging
word of a review of one clause. Heads are chosen on other sentences than they are measured on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64

from attnviz.capture.run import capture
from attnviz.checks.cards import Description, HeadNote
from attnviz.checks.figure import Figure
from attnviz.models.loaded import LoadedModel
from attnviz.types import HeadId, Tokens
from attnviz.worlds.sentiment.reviews import Review, Span, reviews

CASES_SEED, CHOOSING_SEED, PAIRS_SEED = 8_000_001, 8_000_002, 8_000_003
N_CASES, N_PAIRS, N_CHOOSING, BATCH = 1000, 100, 50, 100
CLS: Span = (-1, 0)
Looks = tuple[str, Span, Span]  # a text, from where, to where
Weights = Float64[np.ndarray, "case layer head"]


@dataclass(frozen=True)
class Found:
    """A head: its mean weight where it should look, and where that weight means nothing."""

    head: HeadId
    weight: float
    chance: float
    share_above: float


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    """Accuracy, and how strongly the best heads look where they should."""
    cases = reviews(CASES_SEED, N_CASES)
    right = answers(lm, [case.text for case in cases]) == [case.positive for case in cases]
    negated = np.array([case.negated for case in cases])
    n_negated = int(negated.sum())
    follows, collects = follower(lm), collector(lm)
    to_negator = f"weight from judging word to negator, {follows.head}"
    to_word = f"weight from [CLS] to judging word, {collects.head}"
    return (
        Figure("reviews judged right", _share(right), 0.97, cases=N_CASES),
        Figure("negated reviews judged right", _share(right[negated]), 0.97, cases=n_negated),
        Figure(to_negator, follows.weight, 0.5, cases=N_PAIRS),
        Figure(
            f"pairs with more weight than in the twin, {follows.head}",
            follows.share_above,
            0.75,
            cases=N_PAIRS,
        ),
        Figure(to_word, collects.weight, 0.5, cases=N_PAIRS),
    )


def describe(lm: LoadedModel) -> Description:
    """The rest of the card."""
    follows, collects = follower(lm), collector(lm)
    return Description(
        what="a two-layer text classifier of BERT's shape: does a review praise or blame?",
        data=(
            "generated reviews (attnviz.worlds.sentiment), half of them negated; no outside text;"
            " while it trained, the first layer was also asked what each judging word's clause says"
        ),
        languages=("en",),
        heads=(
            HeadNote(
                str(follows.head),
                "goes from the judging word to the negator that turns it round; chance is its"
                " weight on the word in that place when it is no negator",
                round(follows.weight, 3),
                round(follows.chance, 3),
            ),
            HeadNote(
                str(collects.head),
                "[CLS] collects the answer from the judging word; chance is an even share",
                round(collects.weight, 3),
                round(collects.chance, 3),
            ),
        ),
        limits=(
            "knows about a thousand English words and spells the others; reads 64 tokens; irony,"
            " comparison and two judgements of equal weight are beyond it"
        ),
        samples=SAMPLES,
    )


SAMPLES = (
    "This is not a good film.",
    "The food was not bad at all!",
    "I did not read the book, but the film was wonderful.",
    "The hotel was never boring.",
    "It was not only beautiful but also clever.",
    "Although the actors were excellent, I did not like the story.",
)


def answers(lm: LoadedModel, texts: list[str]) -> np.ndarray:
    """Which texts the model takes for praise."""
    found: list[bool] = []
    for start in range(0, len(texts), BATCH):
        logits = capture(lm, texts[start : start + BATCH]).logits
        assert logits is not None, "a classifier has logits"
        found += logits.argmax(-1).tolist()
    return np.array(found, dtype=np.bool_)


def follower(lm: LoadedModel) -> Found:
    """The head that follows the negator; its chance is the weight on the twin's word."""
    ours, theirs = _pairs(CHOOSING_SEED, N_CHOOSING)
    head = _best(_all_heads(lm, _to_negator(ours)) - _all_heads(lm, _to_negator(theirs)))
    ours, theirs = _pairs(PAIRS_SEED, N_PAIRS)
    weight, chance = _of_head(lm, head, _to_negator(ours)), _of_head(lm, head, _to_negator(theirs))
    return Found(head, float(weight.mean()), float(chance.mean()), _share(weight > chance))


def collector(lm: LoadedModel) -> Found:
    """The head whose [CLS] rests on the judging word; its chance is an even share."""
    head = _best(_all_heads(lm, _from_cls(_simple(CHOOSING_SEED, N_CHOOSING))))
    cases = _simple(PAIRS_SEED, N_PAIRS)
    weight = _of_head(lm, head, _from_cls(cases))
    ids = lm.text_tokenizer()([case.text for case in cases])["input_ids"]
    even = 1 / np.array([len(row) for row in ids])
    return Found(head, float(weight.mean()), float(even.mean()), _share(weight > even))


def _best(score: Weights) -> HeadId:
    mean = score.mean(axis=0)
    layer, head = np.unravel_index(int(mean.argmax()), mean.shape)
    return HeadId(int(layer), int(head))


def _pairs(seed: int, n: int) -> tuple[list[Review], list[Review]]:
    """Reviews with one negator, and their twins."""
    pairs = [(case, case.twin) for case in reviews(seed, n * 4) if case.twin is not None]
    chosen = [pair for pair in pairs if len(pair[0].negators) == 1][:n]
    return [case for case, _ in chosen], [twin for _, twin in chosen]


def _simple(seed: int, n: int) -> list[Review]:
    """Reviews in which one clause judges."""
    return [case for case in reviews(seed, n * 4) if not case.others][:n]


def _to_negator(cases: list[Review]) -> list[Looks]:
    return [(case.text, case.judging, case.negators[0]) for case in cases]


def _from_cls(cases: list[Review]) -> list[Looks]:
    return [(case.text, CLS, case.judging) for case in cases]


def _all_heads(lm: LoadedModel, looks: list[Looks]) -> Weights:
    """Of every head, the weight from one stretch of each text to another."""
    cap = capture(lm, [text for text, _, _ in looks])
    found = [
        weight_between(cap.tokens_of(row), cap.all_weights(batch=row), query, key)
        for row, (_, query, key) in enumerate(looks)
    ]
    return np.stack(found)


def _of_head(lm: LoadedModel, head: HeadId, looks: list[Looks]) -> Float64[np.ndarray, "case"]:
    """The same of one head."""
    cap = capture(lm, [text for text, _, _ in looks])
    found = [
        weight_between(
            cap.tokens_of(row), cap.weights(head.layer, head.head, batch=row), query, key
        )
        for row, (_, query, key) in enumerate(looks)
    ]
    return np.stack(found)


def weight_between(
    tokens: Tokens, weights: Float32[np.ndarray, "*heads query key"], query: Span, key: Span
) -> Float64[np.ndarray, "*heads"]:
    """The weight from one stretch of a text to another: mean of its tokens, sum over the key's.

    `CLS` as a query stands for the first token.
    """
    queries, keys = (
        [0] if query == CLS else list(_inside(tokens, query)),
        list(_inside(tokens, key)),
    )
    between = weights[..., queries, :][..., keys].sum(-1, dtype=np.float64)
    return np.asarray(between.mean(-1))


def _inside(tokens: Tokens, span: Span) -> Iterator[int]:
    """The tokens that stand for a stretch of the text."""
    for number, (start, end) in enumerate(tokens.offsets):
        if start < end and start < span[1] and end > span[0]:
            yield number


def _share(right: np.ndarray) -> float:
    return float(right.mean())
