"""Lesson 5, heads are slices: nn.MultiheadAttention opened up, in the paper's way and in torch's.

    head_i = Attention(X·W_Q,i, X·W_K,i, X·W_V,i),   Concat(head_1 … head_h)·W_O = Σ head_i·W_O[i]

Sources: Vaswani et al. 2017, section 3.2.2, and torch's packed in_proj_weight, as course texts open
it up. The module is the embedded `mha-55`: two heads, five rows X, both from seed 55. The cards on
what several heads look at are in `looks`.
"""

import numpy as np
from torch import nn

from attnviz.course.arrays import apart
from attnviz.course.heads.looks import average, looks, text_control, views
from attnviz.course.heads.mha import KINDS, opened
from attnviz.course.recipe import Ask, Lesson, Recipe
from attnviz.lab.presets import preset
from attnviz.lab.sheet import write
from attnviz.lessons.cards.card import (
    Board,
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Panel,
    Pick,
    Program,
    Series,
    Slider,
)

TO_TWO_DIGITS = 0.006
HEAD_COUNTS = (2, 8, 12)
# what is asked for in the packed product: (kind, head), by seed
SOUGHT = ((1, 1), (2, 0), (1, 0))
WIDTH, MANY_HEADS = 512, (1, 2, 4, 8, 16)
FACTORS = (0.0, 0.5, 1.0, 2.0)
PROGRAM = """\
import torch
from torch import nn

torch.manual_seed(55)
X = torch.randn(1, 5, 4)
mha = nn.MultiheadAttention(4, 2, bias=False, batch_first=True).eval()

QKV = X[0] @ mha.in_proj_weight.T             # one product: 5 x 12
Q0, Q1, K0, K1, V0, V1 = QKV.split(2, dim=1)  # six slices: 5 x 2 each

heads, weights = [], []
for Q, K, V in ((Q0, K0, V0), (Q1, K1, V1)):
    weights.append(torch.softmax(Q @ K.T / 2**0.5, dim=1))
    heads.append(weights[-1] @ V)
output = torch.cat(heads, dim=1) @ mha.out_proj.weight.T

theirs, their_weights = mha(X, X, X, average_attn_weights=False)
weights_difference = (torch.stack(weights) - their_weights[0]).abs().max().item()
output_difference = (output - theirs[0]).abs().max().item()
print(weights_difference, output_difference)
"""


def _paper(ask: Ask) -> Card:
    """X times a small matrix of each head: how many such products are there?"""
    of, n_heads = opened(ask), HEAD_COUNTS[ask.seed % len(HEAD_COUNTS)]
    boards = tuple(
        Board(
            (
                Panel("x", of.x),
                Panel(f"w_q{head}", of.weight("q", head), before="·", scale="w_q"),
                Panel(f"q{head}", of.x @ of.weight("q", head), before="=", scale="q"),
            )
        )
        for head in range(of.n_heads)
    )
    wrong = {"heads": n_heads, "kinds": len(KINDS)}
    numbers = {
        "n": len(of.x),
        "d_model": of.x.shape[1],
        "d_k": of.d_head,
        "heads": n_heads,
        "products": len(KINDS) * n_heads,
    }
    link = Link("calculator", {"lab": write(preset("multihead"))})
    question = NumberQuestion(len(KINDS) * n_heads, 0.1, wrong)
    return Card("paper", numbers, boards, question, link=link)


def _packed(ask: Ask) -> Card:
    """One big product, then slices; where is the one that is asked for?"""
    of = opened(ask)
    kind, head = SOUGHT[ask.seed % len(SOUGHT)]
    board = Board(
        (
            Panel("x", of.x),
            Panel("packed", of.packed, before="·"),
            Panel("qkv", of.qkv, before="=", scale="qkv"),
        )
    )
    names = tuple(
        f"{name.upper()}{number}"
        for name in KINDS
        for number in range(of.n_heads)
        for _ in range(of.d_head)
    )
    right = of.cells(kind, head)
    found = Board(
        (Panel("slices", of.qkv, columns=names, marked=tuple(sorted(right)), scale="qkv"),)
    )
    others = frozenset().union(*(of.cells(kind, each) for each in range(of.n_heads))) - right
    # counting head by head: Q0 K0 V0 Q1 K1 V1
    by_head = (head * len(KINDS) + kind) * of.d_head
    counted = frozenset(
        (row, by_head + column) for row in range(len(of.x)) for column in range(of.d_head)
    )
    wrong = {"head": others, "by_head": counted - right - others}
    numbers = {
        "slice": f"{KINDS[kind].upper()}{head}",
        "n": len(of.x),
        "d_model": of.x.shape[1],
        "columns": of.qkv.shape[1],
        "first": min(column for _, column in right),
        "last": max(column for _, column in right),
        "head": head,
    }
    return Card("packed", numbers, (board,), CellQuestion("qkv", right, wrong), (found,))


def _cut(ask: Ask) -> Card:
    """The experiment: other ways to cut the same product, beside the paper's small matrices."""
    of = opened(ask)
    control, changed = of.paper_weights, of.weights(ask.text("way"))
    panels = (
        Panel("control", control[0], signed=False, sums="rows", decimals=4),
        Panel("changed", changed[0], signed=False, sums="rows", decimals=4),
    )
    numbers = {
        "difference": float(np.abs(changed - control).max()),
        "torch": float(np.abs(changed - of.torch_weights).max()),
        "torch_output": float(np.abs(of.output(ask.text("way")) - of.torch_output).max()),
    }
    return Card("cut", numbers, (Board(panels), Program(PROGRAM)))


def _parameters(n_heads: int) -> int:
    """How many numbers nn.MultiheadAttention of this width has, counted and never allocated."""
    module = nn.MultiheadAttention(WIDTH, n_heads, bias=False, device="meta")
    return sum(parameter.numel() for parameter in module.parameters())


def _copies(ask: Ask) -> Card:
    """Twice as many heads: how many weights? Counted in torch's own modules."""
    counts, copied = np.array(MANY_HEADS, float), [WIDTH * WIDTH * 4 * h for h in MANY_HEADS]
    slices = np.array([_parameters(h) for h in MANY_HEADS], float)
    million = 1e6
    chart = Chart(
        "heads",
        "weights",
        (
            Series("slices", counts, slices / million),
            Series("copies", counts, np.array(copied, float) / million),
        ),
        log_x=True,
    )
    few, many = MANY_HEADS[-2:]
    numbers = {
        "d_model": WIDTH,
        "few": few,
        "many": many,
        "d_few": WIDTH // few,
        "d_many": WIDTH // many,
        "count": int(slices[-1]),
    }
    question = ChoiceQuestion(("double", "same", "half"), "same")
    return Card("copies", numbers, (), question, (chart,))


def _own_rows(ask: Ask) -> Card:
    """Which numbers of W_O does one head's output meet for one column of the output?"""
    of, head, column = opened(ask), (1 + ask.seed) % 2, ask.seed % 4
    rows = range(head * of.d_head, (head + 1) * of.d_head)
    d_model = of.w_o.shape[0]
    right = frozenset((row, column) for row in rows)
    turned = frozenset((column, row) for row in rows)
    everywhere = {(row, each) for row in rows for each in range(d_model)}
    across = frozenset(everywhere) - right - turned
    other = frozenset((row, column) for row in range(d_model)) - right - turned
    board = Board(
        (
            Panel("concat", of.concat),
            Panel("w_o", of.w_o, before="·", scale="w_o"),
            Panel("output", of.torch_output, before="="),
        )
    )
    found = Board((Panel("w_o_marked", of.w_o, marked=tuple(sorted(right)), scale="w_o"),))
    wrong = {"turned": turned - right, "across": across, "head": other}
    numbers = {
        "head": head,
        "column": column,
        "first": rows[0],
        "last": rows[-1],
        "d_k": of.d_head,
        "d_model": d_model,
    }
    return Card("own_rows", numbers, (board,), CellQuestion("w_o", right, wrong), (found,))


def _sum(ask: Ask) -> Card:
    """The heads' shares of the output, which add up to it."""
    of, row = opened(ask), ask.seed % 5
    first, second = (of.share(head) for head in range(of.n_heads))
    board = Board(
        (
            Panel("share0", first, scale="output"),
            Panel("share1", second, before="+", scale="output"),
            Panel("output", of.torch_output, before="=", hidden=True, scale="output"),
        )
    )
    one, other = float(first[row, 0]), float(second[row, 0])
    answer = one + other
    wrong = {"mean": answer / 2, "one": max(one, other, key=abs)}
    numbers = {
        "row": row,
        "one": one,
        "other": other,
        "answer": float(of.torch_output[row, 0]),
        "difference": float(np.abs(first + second - of.torch_output).max()),
    }
    question = NumberQuestion(answer, TO_TWO_DIGITS, apart(answer, wrong, TO_TWO_DIGITS))
    link = Link("steps", {"model": "mha-55", "layer": 0, "head": 1})
    return Card("sum", numbers, (board,), question, link=link)


def _louder(ask: Ask) -> Card:
    """The experiment: head 1's output times a factor, beside the output as it is."""
    of, factor = opened(ask), ask.number("factor")
    changed = of.with_factor(1, factor)
    predicted = of.share(0) + factor * of.share(1)
    panels = (
        Panel("control", of.torch_output, decimals=3, scale="output"),
        Panel("changed", changed, decimals=3, scale="output"),
    )
    numbers = {
        "factor": factor,
        "moved": float(np.abs(changed - of.torch_output).max()),
        "share": float(np.abs(of.share(1)).max()),
        "error": float(np.abs(changed - predicted).max()),
    }
    return Card("louder", numbers, (Board(panels),))


LESSON = Lesson(
    "heads",
    minutes=8,
    recipes=(
        Recipe("views", views),
        Recipe("paper", _paper),
        Recipe("packed", _packed),
        Recipe(
            "cut",
            _cut,
            (Pick("way", ("slices", "every_other", "reshape"), "slices"),),
            "experiment",
        ),
        Recipe("copies", _copies),
        Recipe("own_rows", _own_rows),
        Recipe("sum", _sum),
        Recipe("louder", _louder, (Slider("factor", FACTORS, 0.0),), "experiment"),
        Recipe("average", average),
        Recipe("looks", looks, (text_control(),)),
    ),
)
