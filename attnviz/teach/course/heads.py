"""Heads are slices: nn.MultiheadAttention taken apart, as in the paper and in torch.

    head_i = Attention(X·W_Q,i, X·W_K,i, X·W_V,i),   Concat(head_1 … head_h)·W_O = Σ head_i·W_O[i]

Sources: Vaswani et al. 2017, section 3.2.2, and torch's packed in_proj_weight, as course texts take
it apart (`attnviz.teach.course.multihead`). The module is the embedded `mha-55`: two heads, five
rows X, both from seed 55. The cards on the patterns of several heads also have a sentence in MiniLM
(Clark et al. 2019, "What does BERT look at?").
"""

import numpy as np
import torch
from torch import nn

from attnviz.metrics import PatternName, score
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.calculator.presets import preset
from attnviz.teach.calculator.sheet import write
from attnviz.teach.course.arrays import apart, as_numbers
from attnviz.teach.course.multihead import (
    KINDS,
    cut_output,
    cut_product,
    cut_weights,
    head_share,
    module_parts,
    paper_weights,
    scaled_head_output,
    slice_cells,
)
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    Chart,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Pick,
    Program,
    RealHead,
    Series,
    Slider,
    Typed,
)
from attnviz.teach.lessons.cards.versions import places
from attnviz.types import HeadId

TO_FOUR_DIGITS = 0.0006
MODEL = "minilm"
START = "The cat sat on the mat."
MAX_CHARS = 60
# in the order of the options: a head of each pattern
HEADS: dict[PatternName, tuple[int, int]] = {"next": (1, 8), "previous": (0, 2), "first": (1, 11)}
TO_TWO_DIGITS = 0.006
HEAD_COUNTS = (2, 8, 12)
# the slice that is asked for in the packed product: (kind, head), by seed
TARGET_SLICES = ((1, 1), (2, 0), (1, 0))
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

# the same in one line: (row, d_model) -> (row, head, d_k) -> (head, row, d_k)
Q = QKV[:, :4].reshape(5, 2, 2).transpose(0, 1)
print(torch.equal(Q, torch.stack([Q0, Q1])))

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


def _views(inputs: CardInputs) -> Card:
    """The average of two opposite values in one head, and the two values in two heads."""
    draws = np.random.default_rng(5 + inputs.seed)
    up, down = (5.0, -3.0) if inputs.seed == 0 else (float(draws.integers(4, 9)), -2.0)
    values = np.array([[up], [0.0], [down]])
    weights = np.array([[0.5, 0.0, 0.5]])
    both = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    one_head = Board(
        (
            Panel("weights", weights, decimals=1, signed=False),
            Panel("values", values, before="·", decimals=0, scale="value"),
            Panel("mixed", weights @ values, before="=", decimals=1, hidden=True, scale="value"),
        )
    )
    two_heads = Board(
        (
            Panel("both", both, decimals=1, signed=False),
            Panel("values", values, before="·", decimals=0, scale="value"),
            Panel("apart", (both @ values).T, before="→", decimals=1, scale="value"),
        )
    )
    mixed = float((weights @ values)[0, 0])
    question = NumberQuestion(mixed, 0.05, {"sum": up + down, "one": up})
    numbers = {"up": up, "down": down, "mixed": mixed}
    labels = {"keys": ("0", "1", "2"), "query": ("=",)}
    film = Motion("blend", {"weights": weights, "values": values}, labels, handles=("weight",))
    return Card("views", numbers, (one_head,), question, (two_heads, film))


def _patterns(inputs: CardInputs) -> Card:
    """Three heads of one model on one sentence; one of them attends to the previous token."""
    text = inputs.text("text").strip() or START
    cap = inputs.capture(MODEL, text)
    labels, table = cap.tokens.labels, score(cap)
    pictures: dict[str, Board] = {
        name: Board(
            (
                Panel(
                    name,
                    cap.weights(layer, head).astype(np.float64),
                    rows=labels,
                    columns=labels,
                    signed=False,
                    decimals=1,
                ),
            )
        )
        for name, (layer, head) in HEADS.items()
    }
    previous = table["previous"]
    layer, head = HEADS["previous"]
    numbers: dict[str, float | int | str] = {
        "head": f"L{layer}.H{head}",
        "share": float(previous[layer, head]),
        "even": float(table.baselines[layer, table.patterns.index("previous")]),
        "mean": float(previous.mean()),
        "heads": previous.size,
        "layers": len(previous),
    }
    numbers |= {f"{name}_head": str(HeadId(*place)) for name, place in HEADS.items()}
    numbers |= places(HEADS)
    view: dict[str, str | int] = {"model": MODEL, "text": text, "layer": layer, "head": head}
    return Card(
        "looks",
        numbers,
        (),
        ChoiceQuestion(tuple(HEADS), "previous", pictures),
        (RealHead(MODEL, text, layer, head, "overview"),),
        Link("overview", view),
    )


def _paper(inputs: CardInputs) -> Card:
    """X times a small matrix of each head; the question asks for the number of such products."""
    parts, n_heads = module_parts(inputs), HEAD_COUNTS[inputs.seed % len(HEAD_COUNTS)]
    boards = tuple(
        Board(
            (
                Panel("x", parts.x),
                Panel(f"w_q{head}", parts.weight("q", head), before="·", scale="w_q"),
                Panel(f"q{head}", parts.x @ parts.weight("q", head), before="=", scale="q"),
            )
        )
        for head in range(parts.n_heads)
    )
    wrong = {"heads": n_heads, "kinds": len(KINDS)}
    numbers = {
        "n": len(parts.x),
        "d_model": parts.x.shape[1],
        "d_k": parts.d_head,
        "heads": n_heads,
        "products": len(KINDS) * n_heads,
    }
    link = Link("calculator", {"lab": write(preset("multihead"))})
    question = NumberQuestion(len(KINDS) * n_heads, 0.1, wrong)
    return Card("paper", numbers, boards, question, link=link)


def _packed(inputs: CardInputs) -> Card:
    """One big product, then slices; the question asks for the cells of one slice."""
    parts = module_parts(inputs)
    kind, head = TARGET_SLICES[inputs.seed % len(TARGET_SLICES)]
    board = Board(
        (
            Panel("x", parts.x),
            Panel("packed", parts.packed, before="·"),
            Panel("qkv", parts.qkv, before="=", scale="qkv"),
        )
    )
    names = tuple(
        f"{name.upper()}{number}"
        for name in KINDS
        for number in range(parts.n_heads)
        for _ in range(parts.d_head)
    )
    right = slice_cells(parts, kind, head)
    solution = Board(
        (Panel("slices", parts.qkv, columns=names, marked=tuple(sorted(right)), scale="qkv"),)
    )
    all_heads = (slice_cells(parts, kind, other) for other in range(parts.n_heads))
    others = frozenset().union(*all_heads) - right
    # the mistake counts head by head: Q0 K0 V0 Q1 K1 V1
    by_head = (head * len(KINDS) + kind) * parts.d_head
    counted = frozenset(
        (row, by_head + column) for row in range(len(parts.x)) for column in range(parts.d_head)
    )
    wrong = {"head": others, "by_head": counted - right - others}
    numbers = {
        "slice": f"{KINDS[kind].upper()}{head}",
        "n": len(parts.x),
        "d_model": parts.x.shape[1],
        "columns": parts.qkv.shape[1],
        "first": min(column for _, column in right),
        "last": max(column for _, column in right),
        "head": head,
    }
    return Card("packed", numbers, (board,), CellQuestion("qkv", right, wrong), (solution,))


def _cut(inputs: CardInputs) -> Card:
    """The experiment: other ways to cut the same product, beside the paper's small matrices."""
    parts = module_parts(inputs)
    control, changed = paper_weights(parts), cut_weights(parts, inputs.text("way"))
    panels = (
        Panel("control", control[0], signed=False, sums="rows", decimals=4),
        Panel("changed", changed[0], signed=False, sums="rows", decimals=4),
    )
    numbers = {
        "difference": float(np.abs(changed - control).max()),
        "torch": float(np.abs(changed - parts.torch_weights).max()),
        "torch_output": float(
            np.abs(cut_output(parts, inputs.text("way")) - parts.torch_output).max()
        ),
    }
    question = ChoiceQuestion(("shapes", "sums", "numbers"), "numbers")
    reveal = (Board(panels), _drawing(), Program(PROGRAM))
    return Card("cut", numbers, (), question, reveal, situation=(Board(panels[:1]),))


def _drawing() -> Board:
    """Head 0 of a product of 2 rows and 2 heads, in two cuts; 12 is row 1, column 2."""
    numbered = torch.tensor([[0.0, 1, 2, 3], [10, 11, 12, 13]])
    right, wrong = (cut_product(numbered, way, 2)[0] for way in ("slices", "reshape"))
    return Board(
        (
            Panel("numbered", as_numbers(numbered), decimals=0, scale="numbered"),
            Panel("head_right", as_numbers(right), decimals=0, scale="numbered"),
            Panel("head_wrong", as_numbers(wrong), decimals=0, scale="numbered"),
        )
    )


def _copies(inputs: CardInputs) -> Card:
    """The weights of modules with more and more heads, counted in torch's own modules."""
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


def _parameters(n_heads: int) -> int:
    """The parameter count of nn.MultiheadAttention, counted on the meta device, not allocated."""
    module = nn.MultiheadAttention(WIDTH, n_heads, bias=False, device="meta")
    return sum(parameter.numel() for parameter in module.parameters())


def _own_rows(inputs: CardInputs) -> Card:
    """The numbers of W_O by which one head's output is multiplied for one output column."""
    parts, head, column = module_parts(inputs), (1 + inputs.seed) % 2, inputs.seed % 4
    rows = range(head * parts.d_head, (head + 1) * parts.d_head)
    d_model = parts.w_o.shape[0]
    right = frozenset((row, column) for row in rows)
    transposed = frozenset((column, row) for row in rows)
    whole_rows = frozenset((row, other) for row in rows for other in range(d_model))
    across = whole_rows - right - transposed
    other_head = frozenset((row, column) for row in range(d_model)) - right - transposed
    board = Board(
        (
            Panel("concat", parts.concat),
            Panel("w_o", parts.w_o, before="·", scale="w_o"),
            Panel("output", parts.torch_output, before="="),
        )
    )
    solution = Board((Panel("w_o_marked", parts.w_o, marked=tuple(sorted(right)), scale="w_o"),))
    wrong = {"turned": transposed - right, "across": across, "head": other_head}
    numbers = {
        "head": head,
        "column": column,
        "first": rows[0],
        "last": rows[-1],
        "d_k": parts.d_head,
        "d_model": d_model,
    }
    return Card("own_rows", numbers, (board,), CellQuestion("w_o", right, wrong), (solution,))


def _sum(inputs: CardInputs) -> Card:
    """The heads' shares of the output, which add up to it."""
    parts, row = module_parts(inputs), inputs.seed % 5
    first, second = (head_share(parts, head) for head in range(parts.n_heads))
    board = Board(
        (
            Panel("share0", first, scale="output"),
            Panel("share1", second, before="+", scale="output"),
            Panel("output", parts.torch_output, before="=", hidden=True, scale="output"),
        )
    )
    share0, share1 = float(first[row, 0]), float(second[row, 0])
    answer = share0 + share1
    wrong = {"mean": answer / 2, "one": max(share0, share1, key=abs)}
    numbers = {
        "row": row,
        "one": share0,
        "other": share1,
        "answer": float(parts.torch_output[row, 0]),
        "difference": float(np.abs(first + second - parts.torch_output).max()),
    }
    question = NumberQuestion(answer, TO_TWO_DIGITS, apart(answer, wrong, TO_TWO_DIGITS))
    link = Link("steps", {"model": "mha-55", "layer": 0, "head": 1})
    return Card("sum", numbers, (board,), question, link=link)


def _louder(inputs: CardInputs) -> Card:
    """The experiment: the output with head 1 times a factor, beside the unchanged one."""
    parts, factor = module_parts(inputs), inputs.number("factor")
    changed = scaled_head_output(parts, 1, factor)
    predicted = head_share(parts, 0) + factor * head_share(parts, 1)
    panels = (
        Panel("control", parts.torch_output, decimals=3, scale="output"),
        Panel("changed", changed, decimals=3, scale="output"),
    )
    numbers = {
        "factor": factor,
        "moved": float(np.abs(changed - parts.torch_output).max()),
        "share": float(np.abs(head_share(parts, 1)).max()),
        "error": float(np.abs(changed - predicted).max()),
    }
    question = ChoiceQuestion(("stays", "grows", "mixed"), "stays")
    return Card("louder", numbers, (), question, (Board(panels),))


def _average(inputs: CardInputs) -> Card:
    """The weights that nn.MultiheadAttention reports by default: the mean over its heads."""
    parts, row = module_parts(inputs), 1 + inputs.seed % 4
    first, second = parts.torch_weights
    mean = (first + second) / 2
    weight0, weight1 = float(first[row, 0]), float(second[row, 0])
    board = Board(
        (
            Panel("head0", first, signed=False, decimals=4),
            Panel("head1", second, signed=False, decimals=4),
            Panel("reported", mean, before="→", signed=False, decimals=4, hidden=True),
        )
    )
    from_mean = np.concatenate(
        [mean @ parts.x @ parts.weight("v", head) for head in range(parts.n_heads)], axis=1
    )
    numbers = {
        "row": row,
        "one": weight0,
        "other": weight1,
        "mean": float(mean[row, 0]),
        "wrong_by": float(np.abs(from_mean @ parts.w_o - parts.torch_output).max()),
    }
    wrong = {"sum": weight0 + weight1, "first": weight0, "second": weight1}
    return Card(
        "average", numbers, (board,), NumberQuestion(numbers["mean"], TO_FOUR_DIGITS, wrong)
    )


LESSON = Lesson(
    "heads",
    needs=("block",),
    recipes=(
        Recipe("views", _views),
        Recipe("looks", _patterns, (Typed("text", START, MAX_CHARS),)),
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
        Recipe("average", _average),
    ),
)
