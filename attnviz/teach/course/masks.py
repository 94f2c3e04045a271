"""Masks: −∞ is added before the softmax; padding is not the future; empty rows.

    Attention(Q, K, V) = Softmax(Q·Kᵀ/√d_k + Mask)·V,  Mask = 0 or −∞      (Vaswani et al. 2017)

The cards on one sentence follow a textbook chapter's decoder example of six tokens,
`preset("decoder")`. The cards on batches take a typed sentence in a batch with a longer one, for
MiniLM, with the model's own weights and no mask as the control; then a decoder's five tokens, two
of them padding on the left, and the story model with padding on the right.
"""

import math
from functools import partial

import numpy as np
import torch
from torch import Tensor

from attnviz import masks
from attnviz.attention import formula
from attnviz.attention.capture import Capture
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.calculator.presets import DECODER_TOKENS, preset
from attnviz.teach.course import story
from attnviz.teach.course.arrays import Matrix, as_numbers, softmax
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Link,
    Numbers,
    Typed,
)

ROW = 2  # of "learned", the query of the first card
weights_panel = partial(Panel, signed=False, rows=DECODER_TOKENS, columns=DECODER_TOKENS)
# the cards on batches
MODEL, LAYER, HEAD = "minilm", 3, 11
FIRST, SECOND = "The cat sat on the mat.", "It slept."
# a decoder's batch is padded on the left, so that all texts end together
PADDED = ("<pad>", "<pad>", "I", "am", "fine")
# a decoder's text with padding on the right
STORIES = ("The dog was happy .", "The cat was hungry .", "The bird was tired .")
N_PADS, PAD_ID, STORY_HEAD = 2, 0, (0, 1)
REAL = torch.tensor([token != "<pad>" for token in PADDED])
N = len(PADDED)


def _added(inputs: CardInputs) -> Card:
    """Scores + mask = masked scores; the question asks for the blocked keys of "learned"."""
    scores, may_attend = scaled_scores(inputs.seed), _causal()
    blocked = ~may_attend.numpy()
    masked = scores + additive_mask(may_attend)
    panel = partial(Panel, rows=DECODER_TOKENS, columns=DECODER_TOKENS, decimals=1)
    board = Board((panel("scaled", scores, scale="scores"),))
    solution = Board(
        (
            panel("mask", additive_mask(may_attend), before="+", decimals=0),
            panel("masked", masked, before="=", blocked=blocked, scale="scores"),
            weights_panel("weights", softmax(masked), before="→", blocked=blocked),
        )
    )
    later = range(ROW + 1, len(DECODER_TOKENS))
    question = CellQuestion(
        "scaled",
        frozenset((ROW, key) for key in later),
        {
            "itself": frozenset({(ROW, ROW)}),
            "past": frozenset((ROW, key) for key in range(ROW)),
            "asked": frozenset((query, ROW) for query in later),
        },
    )
    numbers: Numbers = {
        "token": DECODER_TOKENS[ROW],
        "next": DECODER_TOKENS[ROW + 1],
        "blocked": int(blocked.sum()),
        "all": blocked.size,
        "n": len(DECODER_TOKENS),
        "first": DECODER_TOKENS[0],
    }
    arrays = {"scaled": scores, "weights": softmax(masked)}
    film = Motion("mask", arrays, {"words": DECODER_TOKENS})
    return Card("added", numbers, (board,), question, (solution, film))


def scaled_scores(seed: int) -> Matrix:
    """Q·Kᵀ/√d_k of the six tokens: the preset's for seed 0, else random ones."""
    matrices = preset("decoder").matrices
    q, k = matrices["q"], matrices["k"]
    if seed:
        draws = np.random.default_rng(seed)
        q, k = (np.round(draws.normal(size=q.shape), 2) for _ in range(2))
    return np.asarray(q @ k.T / math.sqrt(q.shape[1]))


def _causal() -> Tensor:
    n = len(DECODER_TOKENS)
    return masks.causal(n, n)


def additive_mask(may_attend: Tensor, number: float = -math.inf) -> Matrix:
    """The mask in its additive form: 0 where a query may attend, `number` elsewhere."""
    return np.where(may_attend.numpy(), 0.0, number)


def _rows(inputs: CardInputs) -> Card:
    """One more key is blocked in one row; no other row changes."""
    scores, may_attend = scaled_scores(inputs.seed), _causal()
    before = softmax(scores + additive_mask(may_attend))
    key = int(before[ROW, :ROW].argmax())
    fewer = may_attend.clone()
    fewer[ROW, key] = False
    after = softmax(scores + additive_mask(fewer))
    numbers: Numbers = {
        "token": DECODER_TOKENS[ROW],
        "key": DECODER_TOKENS[key],
        "freed": float(before[ROW, key]),
        "others": float(np.abs(np.delete(after - before, ROW, axis=0)).max()),
    }
    film = Motion(
        "mask",
        {"scaled": scores, "weights": before},
        {"words": DECODER_TOKENS},
        scenes=("weights",),
        handles=("block",),
    )
    given = Board((weights_panel("weights", before, blocked=~may_attend.numpy()),))
    question = ChoiceQuestion(("row", "below", "all"), "row")
    return Card("rows", numbers, (), question, (film,), situation=(given,))


def _padding(inputs: CardInputs) -> Card:
    """The shorter sentence of a real batch; the question asks for the columns without weight."""
    second = inputs.text("second").strip() or SECOND
    captured = inputs.capture(MODEL, [FIRST, second])
    row = int(_n_real(captured, 0) > _n_real(captured, 1))
    tokens, n_real = captured.tokens_of(row), _n_real(captured, row)
    blocked = np.broadcast_to(tokens.padding, (len(tokens), len(tokens))).copy()
    own = captured.weights(LAYER, HEAD, batch=row).astype(np.float64)
    unmasked = _unmasked(captured, row)
    panel = partial(Panel, rows=tokens.labels, columns=tokens.labels, signed=False)
    question = None
    if tokens.padding.any():
        cells = set(np.ndindex(own.shape))
        keys = frozenset(cell for cell in cells if tokens.padding[cell[1]])
        queries = frozenset(cell for cell in cells if tokens.padding[cell[0]])
        question = CellQuestion("lifted", keys, {"asking": queries - keys})
    alone = inputs.capture(MODEL, (FIRST, second)[row])
    assert captured.hidden is not None and alone.hidden is not None, "an encoder has hidden states"
    numbers: Numbers = {
        "head": f"L{LAYER}.H{HEAD}",
        "tokens": len(tokens),
        "padding": len(tokens) - n_real,
        "leak": float(unmasked[:n_real, n_real:].sum(axis=1).mean()),
        "kept": float(own[:, n_real:].sum()),
        "even": 1 - n_real / len(tokens),
        "alone": float((captured.hidden[row, :n_real] - alone.hidden[0]).abs().max()),
    }
    view: dict[str, str | int | float] = {
        "model": MODEL,
        "text": FIRST,
        "text2": second,
        "layer": LAYER,
        "head": HEAD,
    }
    return Card(
        "padding",
        numbers,
        (Board((panel("lifted", unmasked),)),),
        question,
        (Board((panel("own", own, blocked=blocked, sums="rows"),)),),
        Link("masks", view),
    )


def _n_real(captured: Capture, row: int) -> int:
    return int((~captured.tokens_of(row).padding).sum())


def _unmasked(captured: Capture, row: int) -> Matrix:
    """The weights if no key were blocked."""
    inputs = captured.call(LAYER).inputs
    n = captured.call(LAYER).n_query
    open_mask = torch.ones(n, n, dtype=torch.bool)
    return as_numbers(inputs.stages(HEAD, row, mask=open_mask)["weights"])


def second_sentence() -> Typed:
    """The box for the other sentence of the batch."""
    return Typed("second", SECOND, 24)


def _both(inputs: CardInputs) -> Card:
    """Pictures of masks; one is the mask that a decoder needs for a padded text."""
    panel = partial(Panel, "may", rows=PADDED, columns=PADDED, signed=False, decimals=0)
    pictures = {
        name: Board((panel(mask.double().numpy(), blocked=~mask.numpy()),))
        for name, mask in _patterns().items()
    }
    numbers: Numbers = {
        "n": N,
        "padding": int((~REAL).sum()),
        "open": int(_patterns()["both"].sum()),
        "all": N * N,
    }
    question = ChoiceQuestion(tuple(pictures), "both", pictures)
    return Card("both", numbers, question=question)


def _patterns() -> dict[str, Tensor]:
    """The causal mask, the padding mask, and both together; True = may attend."""
    causal, pad = masks.causal(N, N), masks.padding(REAL, N)
    return {"causal": causal, "padding": pad, "both": masks.combine(causal, pad)}


def _right(inputs: CardInputs) -> Card:
    """Padding on the right of a decoder's text under the causal mask alone; the left as control.

    In the control each token keeps its position, so that the padding alone makes the difference.
    """
    text = STORIES[inputs.seed % len(STORIES)]
    ids = np.asarray(inputs.capture(story.MODEL, text).tokens.ids, dtype=np.int64)
    pads = np.full(N_PADS, PAD_ID)
    alone, padded = story.run(ids), story.run(np.concatenate([ids, pads]))
    kept = np.concatenate([np.zeros_like(pads), np.arange(len(ids))])
    left = story.run(np.concatenate([pads, ids]), positions=kept)
    names = (*story.names(ids), *("[PAD]",) * N_PADS)
    weights = story.head_pass(np.concatenate([ids, pads]), *STORY_HEAD).weights
    blocked = np.triu(np.ones_like(weights, dtype=np.bool_), 1)
    numbers: Numbers = {
        "text": text,
        "padding": N_PADS,
        "head": "L{}.H{}".format(*STORY_HEAD),
        "difference": float(np.abs(padded.logits[: len(ids)] - alone.logits).max()),
        "left": float(np.abs(left.probabilities() - alone.probabilities()).max()),
    }
    question = ChoiceQuestion(("all", "pads", "none"), "pads")
    panel = Panel(
        "weights", weights, rows=names, columns=names, signed=False, blocked=blocked, sums="rows"
    )
    return Card("right", numbers, (), question, (Board((panel,)),))


def _empty(inputs: CardInputs) -> Card:
    """Rows of padding that both masks together leave without any key."""
    may_attend = _patterns()["both"]
    scores = torch.from_numpy(np.random.default_rng(8 + inputs.seed).normal(size=(N, N)))
    is_empty = ~may_attend.any(dim=1).numpy()
    panel = partial(Panel, rows=PADDED, columns=PADDED, signed=False)
    lowest = torch.finfo(torch.float32).min
    finite = torch.softmax(scores.float().masked_fill(~may_attend, lowest), dim=1)
    exact = formula.weights(formula.masked(scores, may_attend))
    blocked = ~may_attend.numpy()
    open_cells = may_attend.double().numpy()
    may = panel("may", open_cells, decimals=0, blocked=blocked)
    board = Board((may,), blank_on_paper=("may",))  # the card before asks for it
    solution = Board(
        (
            panel("exact", as_numbers(exact), blocked=blocked, sums="rows"),
            panel("finite", as_numbers(finite), sums="rows"),
        )
    )
    rows = frozenset((int(row), key) for row in np.flatnonzero(is_empty) for key in range(N))
    first_real = int(np.flatnonzero(~is_empty)[0])
    question = CellQuestion(
        "may", rows, {"first_real": frozenset((first_real, key) for key in range(N))}
    )
    numbers: Numbers = {
        "dead": int(is_empty.sum()),
        "each": float(finite[0, 0]),
        "future": float(finite[0, 1:].sum()),
        "first_real": PADDED[first_real],
    }
    return Card("empty", numbers, (board,), question, (solution,))


LESSON = Lesson(
    "masks",
    needs=("block",),
    recipes=(
        Recipe("added", _added),
        Recipe("rows", _rows),
        Recipe("padding", _padding, (second_sentence(),), "experiment"),
        Recipe("both", _both),
        Recipe("right", _right),
        Recipe("empty", _empty),
    ),
)
