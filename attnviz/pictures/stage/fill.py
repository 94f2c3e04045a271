"""The looks of one word, forbidden one by one: the stage of a language model or a sentence encoder.

In: a capture and a run of its text. Out: a `StageView`. Every number is of a pass with that one
look cut, the rest of its row grown to 1 again (`Experiment.cuts`).

No head is the star of every sentence, so the word that is looked at is measured. Candidates are the
two strongest looks of the last word in each head; those count first after which the model writes
another word that stands in the text and names something, then the largest effect of a look at such
a word. Where the model has no guess, cuts decide nothing: it is the word that is looked at most.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Float32

from attnviz.pictures.group import groups
from attnviz.pictures.group.answers import guesses
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.pictures.stage import Answers, Looks, Scene, StageView, Tried
from attnviz.tokens.words import Word, words

if TYPE_CHECKING:
    from attnviz.experiment.cuts import Cuts
    from attnviz.experiment.run import Experiment

LEAST_LOOK = 0.15
N_FIRST, N_RISEN = 5, 3  # the likeliest words, and those without the look that moves most
# words that stand in any text and name nothing: a flip to one of them is no story
FUNCTION_WORDS = frozenset(
    "a an the and or but of to in on at with for from he she it they his her its their him them was"
    " were is are be had has have not so that this very . , ! ? ' : ;".split()
)
Weights = Float32[np.ndarray, "layer head query key"]


def next_word(
    captured: AppCapture,
    run: "Experiment",
    scene: Scene,
    examples: Sequence[tuple[Scene, str]] = (),
    key: int | None = None,
    tried: Tried | None = None,
    asked: tuple[int, int] | None = None,
) -> StageView:
    """The stage of a language model; the word that is looked at is chosen where none is given.

    `asked` is the cell that it is about instead, if the last word may look there.
    """
    weights = groups.stacked(captured.groups[0])
    query = weights.shape[2] - 1
    clean, n_tried = run.answer.numbers, 0
    if key is None and not guesses(run.reader):
        key = _most_looked_at(weights)
    elif key is None:
        candidates = strong_looks(weights)
        n_tried = len(candidates)
        key = _chosen(run.cuts(candidates), captured) if candidates else max(0, query - 1)
    if asked is not None and asked[0] == query > asked[1] != key:
        n_tried, key = 0, asked[1]
    cuts = run.cuts(_all_heads(weights, query, key))
    best = cuts.numbers[int(np.argmax(cuts.moved))]
    choices = list(dict.fromkeys([*_likeliest(clean, N_FIRST), *_likeliest(best, N_RISEN)]))
    named = _names(captured, run)
    shares = np.take_along_axis(cuts.numbers, cuts.winners[:, None], axis=1)[:, 0]
    answers = Answers(
        choices=tuple(map(named, choices)),
        before=clean[choices].astype(np.float32),
        after=cuts.numbers[:, choices],
        winner=named(cuts.winner),
        share=float(clean[cuts.winner]),
        winners=tuple(named(int(at)) for at in cuts.winners),
        shares=tuple(shares.tolist()),
        leading=_leading(clean, choices),
        leading_after=tuple(_leading(numbers, choices) for numbers in cuts.numbers),
        n_words=len(clean),
    )
    looked_at = _looks(captured, weights, query, key, cuts)
    return StageView(
        "next", scene, _text(captured), looked_at, answers, tuple(examples), n_tried, tried
    )


def meaning(
    captured: AppCapture,
    run: "Experiment",
    scene: Scene,
    cell: tuple[int, int],
    yardsticks: Sequence[str],
    examples: Sequence[tuple[Scene, str]] = (),
) -> StageView:
    """The stage of a sentence encoder: `run` compares the text with others, named `yardsticks`."""
    weights = groups.stacked(captured.groups[0])
    cuts = run.cuts(_all_heads(weights, *cell))
    answers = Answers(
        choices=tuple(yardsticks),
        before=(1 - run.answer.numbers[1:]).astype(np.float32),
        after=np.zeros((len(cuts.moved), 0), np.float32),
    )
    looked_at = _looks(captured, weights, *cell, cuts)
    return StageView("meaning", scene, _text(captured), looked_at, answers, tuple(examples))


def strong_looks(weights: Weights) -> list[tuple[str, int, int]]:
    """The two strongest looks of the last word in each head, but at the first token or itself."""
    query = weights.shape[2] - 1
    found = []
    for layer, of_layer in enumerate(weights):
        for head, pattern in enumerate(of_layer):
            row = pattern[query].copy()
            row[[0, query]] = 0
            strongest = np.argsort(-row, kind="stable")[:2]
            found += [
                (f"L{layer}.H{head}", query, int(k)) for k in strongest if row[k] >= LEAST_LOOK
            ]
    return found


def _likeliest(numbers: Float[np.ndarray, "answer"], count: int) -> list[int]:
    """The answers with the largest numbers, the first ones of equals first."""
    places: list[int] = np.argsort(-numbers, kind="stable")[:count].tolist()
    return places


def _leading(numbers: Float[np.ndarray, "answer"], choices: list[int]) -> int:
    """The number of likeliest answers before the first one that is not a choice."""
    likeliest = _likeliest(numbers, len(choices))
    return next((at for at, one in enumerate(likeliest) if one not in choices), len(choices))


def _most_looked_at(weights: Weights) -> int:
    """The key of the last word's strongest look in any head, but at the first token or itself."""
    most = weights[:, :, -1].max(axis=(0, 1))
    most[[0, -1]] = 0
    return int(most.argmax())


def _chosen(cuts: "Cuts", captured: AppCapture) -> int:
    """The key of the cut to show, by the rule that the module states."""
    spelled = _spelled(captured)
    content = [word for word in spelled if word.text.strip().lower() not in FUNCTION_WORDS]
    names = {word.text.strip() for word in content}
    flips = [at for at in cuts.flips if cuts.names[at].strip() in names]
    places = {at for word in content for at in range(word.start, word.stop)}
    at_words = [at for at, (_, _, key) in enumerate(cuts.edges) if key in places]
    among = at_words or [*range(len(cuts.edges))]
    best = flips[0] if flips else max(among, key=lambda at: float(cuts.moved[at]))
    return cuts.edges[best][2]


def _names(captured: AppCapture, run: "Experiment") -> Callable[[int], str]:
    """The name of a token as an answer; "T…" where it begins a longer word of the text, as Tim."""
    ids = groups.keys(captured.groups[0]).ids
    spelled = _spelled(captured)
    whole = {int(ids[word.start]) for word in spelled if not _is_split(word)}
    begins = {int(ids[word.start]) for word in spelled if _is_split(word)} - whole
    return lambda at: run.reader.name(at).strip() + ("…" if at in begins else "")


def _spelled(captured: AppCapture) -> tuple[Word, ...]:
    tokenizer = captured.model.tokenizer
    join = "".join if tokenizer is None else tokenizer.convert_tokens_to_string
    return words(groups.keys(captured.groups[0]), join)


def _is_split(word: Word) -> bool:
    return word.stop - word.start > 1


def _all_heads(weights: Weights, query: int, key: int) -> list[tuple[str, int, int]]:
    n_layers, n_heads = weights.shape[:2]
    heads = [f"L{layer}.H{head}" for layer in range(n_layers) for head in range(n_heads)]
    return [(head, query, key) for head in heads]


def _text(captured: AppCapture) -> str:
    return "" if captured.request is None else captured.request.text[0]


def _looks(captured: AppCapture, weights: Weights, query: int, key: int, cuts: "Cuts") -> Looks:
    tokens = groups.keys(captured.groups[0])
    rows = weights[:, :, query]
    return Looks(
        tokens=tuple(label.strip() for label in tokens.labels),
        special=tokens.special,
        query=query,
        key=key,
        weights=weights,
        rows=np.ascontiguousarray(rows.reshape(-1, rows.shape[-1])),
        moved=cuts.moved.astype(np.float32),
        pieces=tuple((word.start, word.stop) for word in _spelled(captured) if _is_split(word)),
    )
