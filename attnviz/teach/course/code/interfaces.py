"""Cards of lesson 12 about interfaces: fully masked rows, the meaning of True, code to copy.

In: an interface and a mask. Out: cards whose answers come from running the interfaces now
(`capture.blocked_rows`, `torch.nn.MultiheadAttention`), with code from `masks.code`.
"""

import numpy as np
import torch
from torch import Tensor, nn

from attnviz import masks
from attnviz.capture.blocked_rows import IMPLEMENTATIONS, blocked_rows
from attnviz.masks.code import CONVENTIONS, Convention, MaskParts, code
from attnviz.models.seeded_models import seeded
from attnviz.pictures.board import Board, Panel
from attnviz.teach.course.arrays import Matrix, as_numbers
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards.card import (
    Card,
    ChoiceQuestion,
    Control,
    Link,
    NumberQuestion,
    Pick,
    Program,
)

VERDICTS = ("nan", "uniform", "zero", "finite")
N = 4
WIDTH = 8
KINDS = ("causal", "padding", "both")
REAL = (True, True, True, False)
TEXT = "Lily gave the red ball to Tom."


def fates(inputs: CardInputs) -> Card:
    """The results of scaled_dot_product_attention and other interfaces for a row without keys."""
    rows = {row.implementation: row for row in blocked_rows(N)}
    board = Board(
        tuple(
            Panel(
                fate,
                rows[fate].values[None].astype(np.float64),
                signed=rows[fate].gives == "output",
                scale=rows[fate].gives,
            )
            for fate in IMPLEMENTATIONS
        )
    )
    numbers = {
        "calls": len(rows),
        "kinds": len({row.verdict for row in rows.values()}),
        "n": N,
        "even": 1 / N,
    }
    question = ChoiceQuestion(VERDICTS, rows["sdpa"].verdict)
    return Card("fates", numbers, question=question, reveal=(board,))


def multihead_weights(mask: Tensor, seed: int = 0) -> Matrix:
    """The weights of nn.MultiheadAttention under a boolean mask."""
    draws = torch.Generator().manual_seed(7 + seed)
    x = torch.randn(1, len(mask), WIDTH, generator=draws)
    with seeded(7 + seed), torch.no_grad():
        attention = nn.MultiheadAttention(WIDTH, 1, batch_first=True).eval()
        _, weights = attention(x, x, x, attn_mask=mask)
    return as_numbers(weights[0])


def polarity(inputs: CardInputs) -> Card:
    """Two boolean masks in nn.MultiheadAttention, both run; one of them blocks the future."""
    triangle = masks.causal(N, N)
    triangles = {"lower": triangle, "upper": ~triangle}
    results = {name: multihead_weights(mask, inputs.seed) for name, mask in triangles.items()}
    future = ~triangle.numpy()
    right = next(name for name, weights in results.items() if not np.nansum(weights[future]))
    pictures = {
        name: Board((Panel("mask", mask.double().numpy(), decimals=0, signed=False),))
        for name, mask in triangles.items()
    }
    board = Board(
        tuple(
            Panel(
                name, weights, signed=False, sums="rows", blocked=None if name != right else future
            )
            for name, weights in results.items()
        )
    )
    wrong = results["lower" if right == "upper" else "upper"]
    numbers = {
        "n": N,
        "future": float(np.nanmean(wrong[:-1][future[:-1]])),
        "nan": int(np.isnan(wrong).any(axis=1).sum()),
    }
    question = ChoiceQuestion(("lower", "upper"), right, pictures)
    return Card("polarity", numbers, question=question, reveal=(board,))


def translation() -> tuple[Control, ...]:
    """The controls for the mask and the interface."""
    return Pick("mask", KINDS, "causal"), Pick("interface", CONVENTIONS, "sdpa")


def translate(inputs: CardInputs) -> Card:
    """One mask as code for the chosen interface."""
    kind = inputs.text("mask")
    real = None if kind == "causal" else REAL
    parts = MaskParts(N, N, real, causal=kind != "padding")
    convention: Convention = next(name for name in CONVENTIONS if name == inputs.text("interface"))
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
    pictures = (Board((panel,)), Program(code(parts, convention)))
    causal = int(masks.causal(N, N).sum())
    both = int(masks.combine(masks.causal(N, N), masks.padding(torch.tensor(REAL), N)).sum())
    wrong = {"causal": causal, "padding": N * sum(REAL), "all": N * N}
    question = NumberQuestion(both, 0.1, wrong)
    numbers = {"open": int(may_attend.sum()), "all": N * N, "n": N, "causal": causal, "both": both}
    link = Link("masks", {"model": "stories", "text": TEXT})
    return Card("translate", numbers, (), question, pictures, link)
