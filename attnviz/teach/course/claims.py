"""Limits of a heatmap: one text, one sentence, and a weight without effect.

    ‖α·f(x)‖,   f(x) = (x·W_V + b_V)·W_O                         (Kobayashi et al. 2020, section 2)

Two cards show an induction head on a single text (Olsson et al. 2022). The others compare a weight
with its effect and with the answer without a word. It is disputed if weights explain an answer:
Jain & Wallace 2019 compare them with leaving words out; Wiegreffe & Pinter 2019 discuss the limits
of such a comparison. The cards make it on the embedded `sentiment`, with shuffled weights as the
control.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from attnviz.attention.capture import Capture
from attnviz.attention.steps import derive
from attnviz.changes.kinds import Change
from attnviz.changes.make import ablate, cut
from attnviz.changes.text import write
from attnviz.experiment.correlations import spearman
from attnviz.metrics.measures import induction_keys
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course import story
from attnviz.teach.course.real import INDUCTION, chance, score
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Control,
    Link,
    NumberQuestion,
    Numbers,
    RealHead,
    Series,
    Typed,
)
from attnviz.types import HeadId

GOAT_STORY = "One day Lily met a big goat near the river."
# a head that seems to do induction on the first of these sentences
SEEMING_INDUCTION = HeadId(5, 11)
SENTENCES = (
    "The cat sat on the mat because it was tired.",
    "The old dog saw the young dog.",
    "The king gave the queen a ring.",
    "The boat on the lake was old.",
    "The teacher told the class a story.",
    "The bird left the nest at night.",
    "The wind blew the door open.",
    "The girl threw the ball to her father.",
)
# the cards on effects
MODEL = "sentiment"
MAT, RESTING_HEAD = "The cat sat on the mat.", (4, 5)
QUERIES = (3, 2, 6)
REVIEW = "the hotel was not bad at all ."
REVIEWS = (REVIEW, "the music was not awful .", "the food was never boring .")
NEGATORS = ("not", "never")
BACKED_UP = REVIEWS[:2]  # one cut cell changes little; in the third it is enough
MAX_WORDS = 16
N_SHUFFLES, SEED = 1000, 0
START = "I loved the story but the ending was terrible ."
EFFECT_CONTROLS: tuple[Control, ...] = (Typed("text", START),)


@dataclass(frozen=True, eq=False)
class WordEffects:
    """A review word by word: the weight of [CLS] in the last layer, and the effect of the word.

    `margin` is the logit of praise minus the logit of blame; `changes` is the margin with the word
    minus the margin without it.
    """

    words: tuple[str, ...]
    weights: Float64[np.ndarray, "word"]
    margin: float
    changes: Float64[np.ndarray, "word"]

    @property
    def heaviest(self) -> int:
        """The word with the largest weight."""
        return int(self.weights.argmax())

    @property
    def strongest(self) -> int:
        """The word without which the answer changes most."""
        return int(np.abs(self.changes).argmax())

    def agreement(self) -> tuple[float, float]:
        """(rank correlation of weights and sizes of change, fraction of shuffles that reach it)."""
        sizes = np.abs(self.changes)
        correlation = spearman(self.weights, sizes)
        draws = np.random.default_rng(SEED)
        shuffled = np.array(
            [spearman(draws.permutation(self.weights), sizes) for _ in range(N_SHUFFLES)]
        )
        return correlation, float((shuffled >= correlation - 1e-9).mean())


def _quiet(inputs: CardInputs) -> Card:
    """The induction head on a story without a repeat."""
    head, cap = INDUCTION["stories"], inputs.capture("stories", GOAT_STORY)
    numbers: dict[str, float | int | str] = {
        "head": str(head),
        "first": score(cap, head, "first"),
        "chance": chance(cap, "first"),
    }
    question = ChoiceQuestion(("spread", "previous", "first"), "first")
    real = RealHead("stories", GOAT_STORY, head.layer, head.head)
    labels = story.with_start(cap.tokens.labels)
    last = len(labels) - 2  # the last word, before the full stop
    seen = labels[: last + 1]
    asking = Panel("row", np.zeros((1, len(seen))), rows=seen[-1:], columns=seen, hidden=True)
    weights = cap.weights(head.layer, head.head).astype(np.float64)
    numbers |= {"token": labels[last], "weight": float(weights[last].max())}
    film = Motion(
        "induction",
        {
            "previous": np.zeros_like(weights),
            "induction": weights,
            "asked": np.array([[last, weights[last].argmax()]], dtype=np.float64),
        },
        {"letters": labels},
        scenes=("text", "match"),
        handles=("asked",),
    )
    situation = (Board((asking,)),)
    return Card("quiet", numbers, (), question, (film, real), situation=situation)


def _one_sentence(inputs: CardInputs) -> Card:
    """A score on one sentence, and on seven more."""
    cap, rows = inputs.capture("minilm", list(SENTENCES)), range(len(SENTENCES))
    scores = np.array([score(cap, SEEMING_INDUCTION, "induction", row) for row in rows])
    by_chance = np.array([chance(cap, "induction", row) for row in rows])
    tokens = inputs.capture("minilm", SENTENCES[0]).tokens
    words = int((~tokens.special).sum())
    n_counted = int(induction_keys(tokens)[~tokens.special].any(axis=1).sum())
    x = np.arange(len(rows), dtype=np.float64)
    chart = Chart(
        "sentence", "score", (Series("head", x, scores), Series("chance", x, by_chance)), bars=True
    )
    gaps = scores - by_chance
    numbers: Numbers = {
        "head": str(SEEMING_INDUCTION),
        "score": float(scores[0]),
        "chance": float(by_chance[0]),
        "text": SENTENCES[0],
        "behind": n_counted,
        "mean": float(scores.mean()),
        "mean_chance": float(by_chance.mean()),
        "least": float(scores.min()),
        "n": len(rows),
        "above": int((scores > by_chance).sum()),
        "errors": float(gaps.mean() / (gaps.std(ddof=1) / np.sqrt(len(gaps)))),
    }
    question = NumberQuestion(n_counted, 0.1, {"words": words, "tokens": len(tokens), "pair": 2})
    first = tuple(replace(line, x=line.x[:1], y=line.y[:1]) for line in chart.series)
    given = replace(chart, series=first)
    return Card("one", numbers, (), question, (chart,), situation=(given,))


def _effect(inputs: CardInputs) -> Card:
    """A row of weights, the length of each token's value through W_O, and their product."""
    cap, row = inputs.capture("minilm", MAT), QUERIES[inputs.seed % len(QUERIES)]
    layer, head = RESTING_HEAD
    steps = derive(cap.call(layer), head)
    assert steps.value_norms is not None, "W_O of this model is found"
    weights, reach = steps.weights[row].double().numpy(), steps.value_norms.double().numpy()
    written = weights * reach
    heaviest, longest, most = (int(values.argmax()) for values in (weights, reach, written))
    labels = cap.tokens.labels
    board = Board(
        (
            Panel("weights", weights[None], columns=labels, signed=False),
            Panel("reach", reach[None], columns=labels, signed=False),
            Panel("written", written[None], columns=labels, signed=False, hidden=True),
        )
    )
    wrong = {"heaviest": frozenset({(0, heaviest)}), "longest": frozenset({(0, longest)})}
    numbers: Numbers = {
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
        "written", frozenset({(0, most)}), _without(wrong, most), also=("weights", "reach")
    )
    link = Link(
        "steps",
        {"model": "minilm", "text": MAT, "layer": layer, "head": head, "query": row, "key": 0},
    )
    return Card("effect", numbers, (board,), question, link=link)


def _without(
    wrong: dict[str, frozenset[tuple[int, int]]], right: int
) -> dict[str, frozenset[tuple[int, int]]]:
    """The mistakes without the right cell; a mistake that has no other cell is left out."""
    return {name: cells - {(0, right)} for name, cells in wrong.items() if cells - {(0, right)}}


def _explains(inputs: CardInputs) -> Card:
    """The question asks for the word whose removal changes the answer most."""
    effects = word_effects(inputs, tuple(REVIEWS[inputs.seed % len(REVIEWS)].split()))
    numbers: Numbers = {
        "margin": effects.margin,
        "heavy": effects.words[effects.heaviest],
        "heavy_weight": float(effects.weights[effects.heaviest]),
        "heavy_change": float(effects.changes[effects.heaviest]),
        "strong": effects.words[effects.strongest],
        "strong_weight": float(effects.weights[effects.strongest]),
        "strong_change": float(effects.changes[effects.strongest]),
        "after": float(effects.margin - effects.changes[effects.strongest]),
        "typical": float(np.median(np.abs(effects.changes))),
    }
    wrong = {"heaviest": frozenset({(0, effects.heaviest)})}
    question = CellQuestion(
        "weights",
        frozenset({(0, effects.strongest)}),
        _without(wrong, effects.strongest),
        also=("changes",),
    )
    return Card("explains", numbers, (_board(effects, hidden=True),), question)


def word_effects(inputs: CardInputs, words: tuple[str, ...]) -> WordEffects:
    """The effects of a review's words, from one batch with each of them left out."""
    texts = [" ".join(words)]
    texts += [" ".join(words[:n] + words[n + 1 :]) for n in range(len(words))]
    cap = inputs.capture(MODEL, texts, cut=True)
    assert cap.logits is not None, "a classifier has logits"
    margins = (cap.logits[:, 1] - cap.logits[:, 0]).double().numpy()
    from_cls = cap.weights(cap.n_layers - 1)[:, 0].mean(axis=0)  # the mean of its heads
    weights = np.array([from_cls[numbers].sum() for numbers in _tokens(cap, words)], np.float64)
    return WordEffects(words, weights, float(margins[0]), margins[0] - margins[1:])


def _tokens(cap: Capture, words: tuple[str, ...]) -> list[list[int]]:
    """The tokens of each word of a text whose words have one space between them."""
    tokens, start = [], 0
    for word in words:
        end = start + len(word)
        tokens.append([n for n, (a, b) in enumerate(cap.tokens.offsets) if start <= a < b <= end])
        start = end + 1
    return tokens


def _board(effects: WordEffects, *, hidden: bool) -> Board:
    return Board(
        (
            Panel("weights", effects.weights[None], columns=effects.words, signed=False),
            Panel("changes", effects.changes[None], columns=effects.words, hidden=hidden),
        )
    )


def _backup(inputs: CardInputs) -> Card:
    """One cell of layer 0 cut in one head after the other, and the same in another row."""
    cuts = [negation_cuts(inputs, review) for review in REVIEWS]
    own = cuts[inputs.seed % len(BACKED_UP)]
    weights = Panel("heads", own.weights[None], columns=own.heads, signed=False)
    n_cut = tuple(f"{n}" for n in range(len(own.heads) + 1))
    rows = np.stack([own.verdicts, own.control])
    verdicts = Panel("verdicts", rows, rows=(own.judging, own.bystander), columns=n_cut)
    numbers: dict[str, float | int | str] = {
        "text": own.text,
        "judging": own.judging,
        "negator": own.negator,
        "bystander": own.bystander,
        "head": own.heads[int(own.weights.argmax())],
        "weight": float(own.weights.max()),
        "heads": len(own.heads),
        "before": float(own.verdicts[0]),
        "one": float(own.verdicts[1]),
        "two": float(own.verdicts[2]),
        "all": float(own.verdicts[-1]),
        "control": float(own.control[-1]),
        "other_text": cuts[-1].text,
        "other_before": float(cuts[-1].verdicts[0]),
        "other_one": float(cuts[-1].verdicts[1]),
    }
    question = ChoiceQuestion(("turns", "half", "hardly"), "hardly")
    off = ablate(HeadId(0, int(own.weights.argmax())))
    numbers["off"] = _verdict(inputs, own.text, (off,))
    link = Link("switches", {"model": MODEL, "text": own.text, "changes": write((off,))}, task=True)
    return Card("backup", numbers, (Board((weights,)),), question, (Board((verdicts,)),), link)


@dataclass(frozen=True, eq=False)
class NegationCuts:
    """A review whose cell (judging word → negator) is cut in ever more heads of layer 0.

    `weights` has that cell in each head; `verdicts` and `control` begin with nothing cut, then go
    through the heads by their weight. The control cuts the negator in the row of a bystander.
    """

    text: str
    judging: str
    negator: str
    bystander: str
    heads: tuple[str, ...]
    weights: Float64[np.ndarray, "head"]
    verdicts: Float64[np.ndarray, "cut"]
    control: Float64[np.ndarray, "cut"]


def negation_cuts(inputs: CardInputs, text: str) -> NegationCuts:
    """The cuts on a review, whose judging word follows its negator."""
    cap = inputs.capture(MODEL, text)
    labels = cap.tokens.labels
    negator = next(n for n, label in enumerate(labels) if label in NEGATORS)
    judging, bystander = negator + 1, negator - 1
    weights = cap.weights(0)[:, judging, negator].astype(np.float64)
    by_weight = [int(head) for head in np.argsort(-weights)]

    def cuts(query: int, n: int) -> tuple[Change, ...]:
        return tuple(cut(HeadId(0, head), query, negator) for head in by_weight[:n])

    def verdicts(query: int) -> Float64[np.ndarray, "cut"]:
        steps = range(len(weights) + 1)
        return np.array([_verdict(inputs, text, cuts(query, n)) for n in steps])

    return NegationCuts(
        text=text,
        judging=labels[judging],
        negator=labels[negator],
        bystander=labels[bystander],
        heads=tuple(str(HeadId(0, head)) for head in range(len(weights))),
        weights=weights,
        verdicts=verdicts(judging),
        control=verdicts(bystander),
    )


def _verdict(inputs: CardInputs, text: str, changes: tuple[Change, ...]) -> float:
    logits = inputs.capture(MODEL, text, changes=changes).logits
    assert logits is not None, "a classifier has logits"
    return float(logits[0, 1] - logits[0, 0])


def _review(inputs: CardInputs) -> Card:
    """The experiment: a review of the learner, and shuffled weights as the control."""
    words = tuple(inputs.text("text").split())[:MAX_WORDS]
    effects = word_effects(inputs, words if len(words) > 1 else tuple(REVIEW.split()))
    correlation, by_chance = effects.agreement()
    numbers: dict[str, float | int | str] = {
        "margin": effects.margin,
        "heavy": effects.words[effects.heaviest],
        "strong": effects.words[effects.strongest],
        "agreement": correlation,
        "shuffles": N_SHUFFLES,
        "percent": 100 * by_chance,
    }
    link = Link("output", {"model": MODEL, "text": " ".join(effects.words)})
    own = (
        effects
        if effects.words == tuple(START.split())
        else word_effects(inputs, tuple(START.split()))
    )
    agrees = own.heaviest == own.strongest
    numbers |= {"start": START, "start_strong": own.words[own.strongest]}
    question = ChoiceQuestion(("yes", "no"), "yes" if agrees else "no", is_scale=True)
    return Card("review", numbers, (), question, (_board(effects, hidden=False),), link)


LESSON = Lesson(
    "claims",
    needs=("real",),
    recipes=(
        Recipe("quiet", _quiet),
        Recipe("one", _one_sentence),
        Recipe("effect", _effect),
        Recipe("explains", _explains),
        Recipe("backup", _backup),
        Recipe("review", _review, EFFECT_CONTROLS, "experiment"),
    ),
)
