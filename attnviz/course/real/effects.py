"""The cards of lesson 9 about what a weight does: ‖α·f(x)‖, and what happens without a word.

    f(x) = (x·W_V + b_V)·W_O                                     (Kobayashi et al. 2020, section 2)

Whether weights explain an answer is disputed: Jain & Wallace 2019 compare them with leaving words
out; Wiegreffe & Pinter 2019 say what such a comparison can show. Here it is made on the embedded
`sentiment`, with shuffled weights as the control.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from attnviz.attention.call import Capture
from attnviz.attention.steps import derive
from attnviz.course.recipe import CardInputs
from attnviz.lessons.cards.card import Board, Card, CellQuestion, Control, Link, Panel, Typed

MODEL = "sentiment"
# the head that its card names: from the judging word to its negator
CARRIER = (0, 1)
MAT, RESTING = "The cat sat on the mat.", (4, 5)
ASKING = (3, 2, 6)
REVIEW = "the hotel was not bad at all ."
REVIEWS = (REVIEW, "the music was not awful .", "the food was never boring .")
MOST_WORDS = 16
N_SHUFFLES, SEED = 1000, 0
EFFECT_CONTROLS: tuple[Control, ...] = (
    Typed("text", "I loved the story but the ending was terrible ."),
)


def effect(inputs: CardInputs) -> Card:
    """A row of weights, the length of what each token would write, and their product."""
    cap, row = inputs.capture("minilm", MAT), ASKING[inputs.seed % len(ASKING)]
    layer, head = RESTING
    steps = derive(cap.call(layer), head)
    assert steps.reach is not None, "W_O of this model is found"
    weights, reach = steps.weights[row].double().numpy(), steps.reach.double().numpy()
    written = weights * reach
    heaviest, longest, most = (int(of.argmax()) for of in (weights, reach, written))
    labels = cap.tokens.labels
    board = Board(
        (
            Panel("weights", weights[None], columns=labels, signed=False),
            Panel("reach", reach[None], columns=labels, signed=False),
            Panel("written", written[None], columns=labels, signed=False, hidden=True),
        )
    )
    wrong = {"heaviest": frozenset({(0, heaviest)}), "longest": frozenset({(0, longest)})}
    numbers: dict[str, float | int | str] = {
        "head": f"L{layer}.H{head}",
        "token": labels[row],
        "heaviest": labels[heaviest],
        "weight": float(weights[heaviest]),
        "reach": float(reach[heaviest]),
        "product": float(written[heaviest]),
        "share": float(written[heaviest] / written.sum()),
        "most": labels[most],
        "most_weight": float(weights[most]),
        "most_reach": float(reach[most]),
        "most_product": float(written[most]),
    }
    question = CellQuestion(
        "written", frozenset({(0, most)}), _but(wrong, most), also=("weights", "reach")
    )
    link = Link(
        "steps",
        {"model": "minilm", "text": MAT, "layer": layer, "head": head, "query": row, "key": 0},
    )
    return Card("effect", numbers, (board,), question, link=link)


def _but(
    wrong: dict[str, frozenset[tuple[int, int]]], right: int
) -> dict[str, frozenset[tuple[int, int]]]:
    """The mistakes that are none in these numbers."""
    return {name: cells - {(0, right)} for name, cells in wrong.items() if cells - {(0, right)}}


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A review word by word: [CLS]'s weight in the last layer, and what leaving it out changes.

    `margin` is the logit of praise minus that of blame; `changes` is the margin with the word minus
    that without it.
    """

    words: tuple[str, ...]
    weights: Float64[np.ndarray, "word"]
    margin: float
    changes: Float64[np.ndarray, "word"]

    @property
    def heaviest(self) -> int:
        return int(self.weights.argmax())

    @property
    def strongest(self) -> int:
        """The word without which the answer changes most."""
        return int(np.abs(self.changes).argmax())

    def agreement(self) -> tuple[float, float]:
        """(rank correlation of weights and sizes of change, share of shuffles that reach it)."""
        sizes = np.abs(self.changes)
        found = _ranked(self.weights, sizes)
        draws = np.random.default_rng(SEED)
        shuffled = [_ranked(draws.permutation(self.weights), sizes) for _ in range(N_SHUFFLES)]
        return found, float(np.mean([each >= found - 1e-9 for each in shuffled]))


def _ranked(one: Float64[np.ndarray, "word"], other: Float64[np.ndarray, "word"]) -> float:
    """Spearman's rank correlation."""
    ranks = [np.argsort(np.argsort(of)).astype(np.float64) for of in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def left_out(inputs: CardInputs, words: tuple[str, ...]) -> LeftOut:
    """One pass with the review and with each of its words left out."""
    texts = [" ".join(words)]
    texts += [" ".join(words[:n] + words[n + 1 :]) for n in range(len(words))]
    cap = inputs.capture(MODEL, texts, cut=True)
    assert cap.logits is not None, "the model judges"
    margins = (cap.logits[:, 1] - cap.logits[:, 0]).double().numpy()
    return LeftOut(words, _by_word(cap, words), float(margins[0]), margins[0] - margins[1:])


def _by_word(cap: Capture, words: tuple[str, ...]) -> Float64[np.ndarray, "word"]:
    """The weight of [CLS] on each word, mean of the last layer's heads, its pieces added up."""
    from_cls = cap.weights(cap.n_layers - 1)[:, 0].mean(axis=0)
    return np.array([from_cls[of].sum() for of in _tokens(cap, words)], dtype=np.float64)


def _tokens(cap: Capture, words: tuple[str, ...]) -> list[list[int]]:
    """The tokens of each word of a text whose words have one space between them."""
    found, start = [], 0
    for word in words:
        end = start + len(word)
        found.append([n for n, (a, b) in enumerate(cap.tokens.offsets) if start <= a < b <= end])
        start = end + 1
    return found


def _board(of: LeftOut, *, hidden: bool) -> Board:
    return Board(
        (
            Panel("weights", of.weights[None], columns=of.words, signed=False),
            Panel("changes", of.changes[None], columns=of.words, hidden=hidden),
        )
    )


def explains(inputs: CardInputs) -> Card:
    """Which word can the model least do without? Not the one with the largest weight."""
    of = left_out(inputs, tuple(REVIEWS[inputs.seed % len(REVIEWS)].split()))
    cap = inputs.capture(MODEL, " ".join(of.words))
    tokens, (layer, head) = _tokens(cap, of.words), CARRIER
    carried = cap.weights(layer, head)[tokens[of.heaviest][0], tokens[of.strongest]].sum()
    numbers: dict[str, float | int | str] = {
        "margin": of.margin,
        "heavy": of.words[of.heaviest],
        "heavy_weight": float(of.weights[of.heaviest]),
        "heavy_change": float(of.changes[of.heaviest]),
        "strong": of.words[of.strongest],
        "strong_weight": float(of.weights[of.strongest]),
        "strong_change": float(of.changes[of.strongest]),
        "after": float(of.margin - of.changes[of.strongest]),
        "carrier": f"L{layer}.H{head}",
        "carried": float(carried),
        "chance": 1 / len(cap.tokens),
        "typical": float(np.median(np.abs(of.changes))),
    }
    wrong = {"heaviest": frozenset({(0, of.heaviest)})}
    question = CellQuestion(
        "weights",
        frozenset({(0, of.strongest)}),
        _but(wrong, of.strongest),
        also=("changes",),
    )
    return Card("explains", numbers, (_board(of, hidden=True),), question)


def review(inputs: CardInputs) -> Card:
    """The experiment: a review of one's own, and shuffled weights as the control."""
    words = tuple(inputs.text("text").split())[:MOST_WORDS]
    of = left_out(inputs, words if len(words) > 1 else tuple(REVIEW.split()))
    found, by_chance = of.agreement()
    numbers: dict[str, float | int | str] = {
        "margin": of.margin,
        "heavy": of.words[of.heaviest],
        "strong": of.words[of.strongest],
        "agreement": found,
        "shuffles": N_SHUFFLES,
        "percent": 100 * by_chance,
    }
    link = Link("output", {"model": MODEL, "text": " ".join(of.words)})
    return Card("review", numbers, (_board(of, hidden=False),), link=link)
