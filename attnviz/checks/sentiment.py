"""The claims of `sentiment`: right about praise and blame, also where a negation says it.

In: the loaded model. Out: accuracy on held-out reviews (`attnviz.worlds.cases`), all and negated
ones apart, and two heads. The *negator head*: the mean weight from the judging word to its negator,
held against the weight from the same word to what stands in the negator's place in the sentence's
twin ("was not good", "was really good"). The *collecting head*: the mean weight from [CLS] to the
judging word of a review of one clause. Heads are chosen on other sentences than they are measured
on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64

from attnviz.capture.run import capture
from attnviz.checks.cards import Description, Figure, HeadNote
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import HeadId, Tokens
from attnviz.worlds import cases
from attnviz.worlds.cases import CharSpan, SpanPair

BATCH = 100
SpanPairs = Sequence[SpanPair]
Weights = Float64[np.ndarray, "case layer head"]


@dataclass(frozen=True)
class HeadResult:
    """A head, its mean weight where it should attend, and the baseline of that weight.

    `fraction_above` is how often the weight exceeds the baseline.
    """

    head: HeadId
    weight: float
    chance: float
    fraction_above: float
    n_cases: int


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    """Accuracy, and how strongly the best heads attend where they should."""
    reviews = cases.reviews("sentiment/reviews")
    is_right = answers(lm, [review.text for review in reviews]) == [
        review.positive for review in reviews
    ]
    negated = np.array([review.negated for review in reviews])
    n_negated = int(negated.sum())
    negator, collecting = negator_head(lm), collecting_head(lm)
    to_negator = f"weight from judging word to negator, {negator.head}"
    to_word = f"weight from [CLS] to judging word, {collecting.head}"
    return (
        Figure("reviews judged right", _fraction(is_right), 0.97, cases=len(reviews)),
        Figure("negated reviews judged right", _fraction(is_right[negated]), 0.97, cases=n_negated),
        Figure(to_negator, negator.weight, 0.5, cases=negator.n_cases),
        Figure(
            f"pairs with more weight than in the twin, {negator.head}",
            negator.fraction_above,
            0.75,
            cases=negator.n_cases,
        ),
        Figure(to_word, collecting.weight, 0.5, cases=collecting.n_cases),
    )


def describe(lm: LoadedModel) -> Description:
    """The rest of the card."""
    negator, collecting = negator_head(lm), collecting_head(lm)
    return Description(
        what="a two-layer text classifier of BERT's shape: does a review praise or blame?",
        data=(
            "generated reviews (scripts/train/worlds/sentiment), half of them negated; no outside"
            " text; while it trained, the first layer was also asked what each judging word's"
            " clause says"
        ),
        languages=("en",),
        heads=(
            HeadNote(
                str(negator.head),
                "goes from the judging word to the negator that turns it round; chance is its"
                " weight on the word in that place when it is no negator",
                round(negator.weight, 3),
                round(negator.chance, 3),
            ),
            HeadNote(
                str(collecting.head),
                "[CLS] collects the answer from the judging word; chance is an even share",
                round(collecting.weight, 3),
                round(collecting.chance, 3),
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
    """True for each text that the model takes for praise."""
    positive: list[bool] = []
    for start in range(0, len(texts), BATCH):
        logits = capture(lm, texts[start : start + BATCH]).logits
        assert logits is not None, "a classifier has logits"
        positive += logits.argmax(-1).tolist()
    return np.array(positive, dtype=np.bool_)


def negator_head(lm: LoadedModel) -> HeadResult:
    """The head that attends to the negator; its chance is the weight on the twin's word."""
    negated, twins = _with_twins("sentiment/negators_choosing")
    head = _best_head(_weights_of_all_heads(lm, negated) - _weights_of_all_heads(lm, twins))
    negated, twins = _with_twins("sentiment/negators")
    weight, chance = _weights_of_head(lm, head, negated), _weights_of_head(lm, head, twins)
    return _result(head, weight, chance)


def collecting_head(lm: LoadedModel) -> HeadResult:
    """The head whose [CLS] attends to the judging word; its chance is equal weights."""
    head = _best_head(_weights_of_all_heads(lm, cases.span_pairs("sentiment/judging_choosing")))
    pairs = cases.span_pairs("sentiment/judging")
    weight = _weights_of_head(lm, head, pairs)
    ids = lm.text_tokenizer()([pair.text for pair in pairs])["input_ids"]
    return _result(head, weight, 1 / np.array([len(row) for row in ids]))


def _result(
    head: HeadId, weight: Float64[np.ndarray, "case"], chance: Float64[np.ndarray, "case"]
) -> HeadResult:
    above = _fraction(weight > chance)
    return HeadResult(head, float(weight.mean()), float(chance.mean()), above, len(weight))


def _best_head(scores: Weights) -> HeadId:
    mean = scores.mean(axis=0)
    layer, head = np.unravel_index(int(mean.argmax()), mean.shape)
    return HeadId(int(layer), int(head))


def _with_twins(name: str) -> tuple[SpanPairs, SpanPairs]:
    """Reviews with one negator, and their twins without it."""
    return cases.span_pairs(name, "negated"), cases.span_pairs(name, "twin")


def _weights_of_all_heads(lm: LoadedModel, pairs: SpanPairs) -> Weights:
    """The weight from one span of each text to the other, of every head."""
    captured = capture(lm, [pair.text for pair in pairs])
    weights = [
        weight_between(captured.tokens_of(row), captured.all_weights(batch=row), pair)
        for row, pair in enumerate(pairs)
    ]
    return np.stack(weights)


def _weights_of_head(
    lm: LoadedModel, head: HeadId, pairs: SpanPairs
) -> Float64[np.ndarray, "case"]:
    """The weight from one span of each text to the other, of one head."""
    captured = capture(lm, [pair.text for pair in pairs])
    weights = [
        weight_between(
            captured.tokens_of(row), captured.weights(head.layer, head.head, batch=row), pair
        )
        for row, pair in enumerate(pairs)
    ]
    return np.stack(weights)


def weight_between(
    tokens: Tokens, weights: Float32[np.ndarray, "*heads query key"], pair: SpanPair
) -> Float64[np.ndarray, "*heads"]:
    """The weight from one span of a text to another: mean of its tokens, sum over the key's.

    A pair without a query span asks from the first token, [CLS].
    """
    queries = [0] if pair.query is None else list(_tokens_in(tokens, pair.query))
    keys = list(_tokens_in(tokens, pair.key))
    between = weights[..., queries, :][..., keys].sum(-1, dtype=np.float64)
    return np.asarray(between.mean(-1))


def _tokens_in(tokens: Tokens, span: CharSpan) -> Iterator[int]:
    """The numbers of the tokens that share a character with a span of the text."""
    for number, (start, end) in enumerate(tokens.offsets):
        if start < end and start < span[1] and end > span[0]:
            yield number


def _fraction(is_true: np.ndarray) -> float:
    return float(is_true.mean())
