"""Cards of lesson 4 about interfaces: the fates of an empty row, what True means, code to copy.

In: nothing, or an interface and a mask. Out: cards whose answers come from running the interfaces
now (`capture.blocked_rows`, `torch.nn.MultiheadAttention`), with code from `masks.code`.
"""

import numpy as np
import torch
from torch import Tensor, nn

from attnviz import masks
from attnviz.capture.blocked_rows import FATES, dead_rows
from attnviz.course.arrays import Matrix, as_numbers
from attnviz.course.recipe import CardInputs
from attnviz.lessons.cards.card import Board, Card, ChoiceQuestion, Control, Panel, Pick, Program
from attnviz.masks.code import CONVENTIONS, Convention, MaskParts, code

VERDICTS = ("nan", "uniform", "zero", "finite")
N = 4
WIDTH = 8
KINDS = ("causal", "padding", "both")
REAL = (True, True, True, False)


def fates(inputs: CardInputs) -> Card:
    """What scaled_dot_product_attention gives for a row without keys, and what the others give."""
    found = {row.fate: row for row in dead_rows(N)}
    board = Board(
        tuple(
            Panel(
                fate,
                found[fate].values[None].astype(np.float64),
                signed=found[fate].gives == "output",
                scale=found[fate].gives,
            )
            for fate in FATES
        )
    )
    numbers = {
        "calls": len(found),
        "kinds": len({row.verdict for row in found.values()}),
        "n": N,
        "even": 1 / N,
    }
    question = ChoiceQuestion(VERDICTS, found["sdpa"].verdict)
    return Card("fates", numbers, question=question, reveal=(board,))


def multihead_weights(mask: Tensor, seed: int = 0) -> Matrix:
    """The weights that nn.MultiheadAttention gives under a boolean mask, whatever it means."""
    draws = torch.Generator().manual_seed(7 + seed)
    x = torch.randn(1, len(mask), WIDTH, generator=draws)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(7 + seed)
        attention = nn.MultiheadAttention(WIDTH, 1, batch_first=True).eval()
        found: tuple[Tensor, Tensor] = attention(x, x, x, attn_mask=mask)
    return as_numbers(found[1][0])


def polarity(inputs: CardInputs) -> Card:
    """Which boolean mask hides the future in nn.MultiheadAttention? Both are run."""
    triangle = masks.causal(N, N)
    given = {"lower": triangle, "upper": ~triangle}
    ran = {name: multihead_weights(mask, inputs.seed) for name, mask in given.items()}
    future = ~triangle.numpy()
    right = next(name for name, weights in ran.items() if not np.nansum(weights[future]))
    pictures = {
        name: Board((Panel("mask", mask.double().numpy(), decimals=0, signed=False),))
        for name, mask in given.items()
    }
    board = Board(
        tuple(
            Panel(
                name, weights, signed=False, sums="rows", blocked=None if name != right else future
            )
            for name, weights in ran.items()
        )
    )
    wrong = ran["lower" if right == "upper" else "upper"]
    numbers = {
        "n": N,
        "future": float(np.nanmean(wrong[:-1][future[:-1]])),
        "nan": int(np.isnan(wrong).any(axis=1).sum()),
    }
    question = ChoiceQuestion(("lower", "upper"), right, pictures)
    return Card("polarity", numbers, question=question, reveal=(board,))


def translation() -> tuple[Control, ...]:
    """Which mask, for which interface."""
    return Pick("mask", KINDS, "causal"), Pick("interface", CONVENTIONS, "sdpa")


def translate(inputs: CardInputs) -> Card:
    """One mask as code for the chosen interface."""
    kind = inputs.text("mask")
    real = None if kind == "causal" else REAL
    parts = MaskParts(N, N, real, causal=kind != "padding")
    convention: Convention = next(each for each in CONVENTIONS if each == inputs.text("interface"))
    may_attend = masks.causal(N, N) if parts.causal else torch.ones(N, N, dtype=torch.bool)
    if real is not None:
        may_attend = masks.combine(may_attend, masks.padding(torch.tensor(real), N))
    panel = Panel(
        "may",
        may_attend.double().numpy(),
        signed=False,
        decimals=0,
        blocked=~may_attend.numpy(),
    )
    shown = (Board((panel,)), Program(code(parts, convention)))
    return Card("translate", {"open": int(may_attend.sum()), "all": N * N}, shown)
