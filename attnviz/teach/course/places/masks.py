"""Cards of lesson 7 about masks: the future in the decoder, padding in cross-attention.

In: a decoder's six tokens with random scores, and captures of the translator. Out: cards. The mask
is added to the scaled scores, 0 where a query may attend and −∞ where not (a program adds a large
negative number instead).
"""

import numpy as np
import torch

from attnviz import masks
from attnviz.attention import formula
from attnviz.pictures.board import Board, Panel
from attnviz.teach.calculator.presets import DECODER_TOKENS, preset
from attnviz.teach.course.arrays import as_numbers, softmax
from attnviz.teach.course.places.translation import (
    HEAD,
    LAYER,
    MODEL,
    PAIRS,
    in_one_pass,
    translate,
)
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import Card, CellQuestion, ChoiceQuestion


def future(inputs: CardInputs) -> Card:
    """The six tokens of a decoder; the question asks for the last key of one of them."""
    matrices, row = preset("decoder").matrices, 2 + inputs.seed % 3
    q, k = torch.from_numpy(matrices["q"]), torch.from_numpy(matrices["k"])
    scaled = as_numbers(formula.scaled(formula.scores(q, k), q.shape[1] ** -0.5))
    n = len(DECODER_TOKENS)
    blocked = ~masks.causal(n).numpy()
    additive = np.where(blocked, -np.inf, 0.0)
    board = Board(
        (Panel("scaled", scaled, decimals=1, rows=DECODER_TOKENS, columns=DECODER_TOKENS),)
    )
    solution = Board(
        (
            Panel(
                "mask",
                additive,
                decimals=0,
                blocked=blocked,
                rows=DECODER_TOKENS,
                columns=DECODER_TOKENS,
            ),
            Panel(
                "weights",
                softmax(scaled + additive),
                before="→",
                signed=False,
                blocked=blocked,
                sums="rows",
                rows=DECODER_TOKENS,
                columns=DECODER_TOKENS,
            ),
        )
    )
    wrong = {
        "future": frozenset((row, key) for key in range(row + 1, n)),
        "earlier": frozenset((row, key) for key in range(row)),
        "turned": frozenset((query, row) for query in range(n) if query != row),
    }
    question = CellQuestion("scaled", frozenset({(row, row)}), wrong)
    numbers: dict[str, float | int | str] = {
        "token": DECODER_TOKENS[row],
        "next": DECODER_TOKENS[row + 1],
        "n": n,
        "open": row + 1,
        "blocked": int(blocked.sum()),
    }
    return Card("future", numbers, (board,), question, (solution,))


def once(inputs: CardInputs) -> Card:
    """The decoder's rows in one pass over the whole translation, and token by token."""
    pair = PAIRS[inputs.seed % len(PAIRS)]
    whole, by_step = in_one_pass(inputs, pair), translate(inputs, pair.english).captured
    masked, unmasked = [], []
    for layer in range(whole.n_layers):
        call = whole.call(layer, "self", "decoder")
        n = by_step.call(layer, "self", "decoder").n_query
        open_mask = torch.ones(call.n_query, call.n_key, dtype=torch.bool)
        for head in range(call.n_heads):
            own = by_step.weights(layer, head, "self", "decoder")
            unmasked_weights = call.inputs.stages(head, 0, open_mask)["weights"].numpy()
            masked.append(np.abs(call.weights(head).numpy()[:n, :n] - own).max())
            unmasked.append(np.abs(unmasked_weights[:n, :n] - own).max())
    numbers: dict[str, float | int | str] = {
        "french": pair.french,
        "difference": float(max(masked)),
        "without": float(max(unmasked)),
        "heads": len(masked),
        "rows": n,
    }
    return Card("once", numbers, (), ChoiceQuestion(("same", "last", "none"), "same"))


def whose_mask(inputs: CardInputs) -> Card:
    """The question about a future in cross-attention, and the effect of padding there."""
    longer, shorter = PAIRS[0], PAIRS[1 + inputs.seed % (len(PAIRS) - 1)]
    captured = inputs.capture(
        MODEL, [shorter.english, longer.english], target=[shorter.french, longer.french]
    )
    call = captured.call(LAYER, "cross", "decoder")
    assert call.inputs.mask is not None, "the shorter sentence is padded"
    source, target = captured.tokens_of(0, "encoder"), captured.tokens_of(0, "decoder")
    n_row = int((~target.padding).sum())
    weights = call.weights(HEAD, 0).double().numpy()[:n_row]
    blocked = np.broadcast_to(source.padding, weights.shape)
    alone = in_one_pass(inputs, shorter)
    solution = Board(
        (
            Panel(
                "padded",
                weights,
                rows=target.labels[:n_row],
                columns=source.labels,
                signed=False,
                blocked=np.array(blocked),
                sums="rows",
            ),
        )
    )
    numbers: dict[str, float | int | str] = {
        "shorter": shorter.english,
        "longer": longer.english,
        "padding": int(source.padding.sum()),
        "on_padding": float(weights[:, source.padding].max()),
        "decoder_mask": alone.call(LAYER, "self", "decoder").mask_kind,
        "cross_mask": alone.call(LAYER, "cross", "decoder").mask_kind,
        "open": alone.call(LAYER, "cross", "decoder").n_key,
    }
    question = ChoiceQuestion(("yes", "no", "training"), "no")
    return Card("whose_mask", numbers, (), question, (solution,))
