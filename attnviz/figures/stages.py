"""The figure of one head step by step: every stage as a matrix, from X to ·W_O.

In: the `StepView`s of a head and its tokens. Out: a `Drawing`. Weights have the colours of the
screen, everything else a scale around 0 that ends at the largest number; what a mask blocks is
grey. Each panel says how large it is and how far it is from the model's own tensor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from attnviz.figures import axes
from attnviz.figures.axes import BAR_HEIGHT, LINE, Box
from attnviz.figures.drawing import Drawing
from attnviz.figures.matrices import largest, of_signed, of_weights
from attnviz.figures.sheet import MUTED, PrintSheet
from attnviz.figures.style import PAGE, Axis, Labels, Look, Style, axis, look, require
from attnviz.figures.text_width import shortened, width
from attnviz.types import Stage, StepView

GOOD, BAD = "#1b6b3a", "#a3321f"
TITLES: dict[Stage, str] = {
    "x": "X",
    "unrotated_q": "X·W_Q",
    "unrotated_k": "X·W_K",
    "q": "Q",
    "k": "K",
    "v": "V",
    "scores": "Q·Kᵀ",
    "scaled": "÷ √d",
    "capped": "softcap",
    "biased": "+ bias",
    "masked": "+ mask",
    "weights": "softmax",
    "mixed": "·V",
    "concat": "all heads",
    "projected": "·W_O",
}
# stages that belong together begin on a new line
BLOCKS: tuple[tuple[Stage, ...], ...] = (
    ("x", "unrotated_q", "unrotated_k", "q", "k", "v"),
    ("scores", "scaled", "capped", "biased", "masked", "weights"),
    ("mixed", "concat", "projected"),
)
IN_A_LINE = 4
GAP = 12.0
TALLEST = 1.6  # a panel in units of its width
LONGEST = 6.0  # a label in units of its size
UNUSED = ("cells", "row_title", "column_title")


def steps(
    views: Sequence[StepView],
    tokens: Labels,
    key_tokens: Labels | None = None,
    **style: Unpack[Style],
) -> Drawing:
    """Every stage of one head; `views` are those of `attnviz.derive(call, head).views()`."""
    chosen = look({"width_in": PAGE, "size_pt": 6, **style}, UNUSED)
    require(
        bool(views) and all(isinstance(view, StepView) for view in views),
        "views", f"{len(views)} of another kind", "the views of attnviz.derive(…).views()",
    )  # fmt: skip
    by_stage = {view.stage: view for view in views}
    labels = _labels(by_stage, tokens, key_tokens)
    sheet = PrintSheet(chosen.width, 0.0, chosen.title)
    top = axes.put_title(sheet, chosen)
    for block in BLOCKS:
        present = [by_stage[stage] for stage in block if stage in by_stage]
        for start in range(0, len(present), IN_A_LINE):
            top = _put_line(sheet, present[start : start + IN_A_LINE], labels, chosen, top)
    sheet.height = top
    return Drawing(sheet)


@dataclass(frozen=True)
class _Sides:
    """The labels of the two kinds of rows."""

    query: Axis
    key: Axis


def _labels(views: dict[Stage, StepView], tokens: Labels, key_tokens: Labels | None) -> _Sides:
    """The tokens, as many as the views have queries and keys."""
    counts: dict[str, int] = {}
    for view in views.values():
        counts |= {view.rows: view.values.shape[0], view.cols: view.values.shape[1]}
    query = axis("tokens", tokens, counts.get("query", len(tokens)))
    if key_tokens is None:
        return _Sides(query, axis("tokens", tokens, counts.get("key", len(tokens))))
    return _Sides(query, axis("key_tokens", key_tokens, counts.get("key", len(key_tokens))))


def _put_line(
    sheet: PrintSheet, views: list[StepView], labels: _Sides, chosen: Look, top: float
) -> float:
    """Panels side by side; returns where the next line begins."""
    size = chosen.size
    panel = (chosen.width - GAP * (IN_A_LINE - 1) - 2) / IN_A_LINE
    left = max(axes.room(side, size, LONGEST) for side in (labels.query, labels.key))
    named = any(view.cols == "key" for view in views)
    y = top + 2 * LINE * (size + 1) + (axes.room(labels.key, size, LONGEST) if named else 3)
    end = y
    for number, view in enumerate(views):
        rows = labels.query if view.rows == "query" else labels.key
        wide = panel - left
        square = wide * len(rows) / (len(labels.key) if named else len(rows))
        box = Box(1 + number * (panel + GAP) + left, y, wide, min(square, TALLEST * wide))
        _put_heading(sheet, view, box, chosen, top)
        end = max(end, _put_panel(sheet, view, box, rows, labels.key, chosen))
    return end + GAP


def _put_heading(sheet: PrintSheet, view: StepView, box: Box, chosen: Look, top: float) -> None:
    """The formula of a stage, and how large its matrix is."""
    size = chosen.size
    room = box.width
    title = shortened(TITLES[view.stage], size + 1, room, bold=True)
    sheet.text(box.x, top + size + 1, title, size + 1, bold=True)
    n_rows, n_columns = view.values.shape
    about = (f"{view.rows} {n_rows} × {view.cols} {n_columns}", f"{n_rows} × {n_columns}")
    y = top + (size + 1) * (1 + LINE)
    sheet.text(box.x, y, _fitting(about, size, room), size, colour=MUTED)


def _put_panel(
    sheet: PrintSheet, view: StepView, box: Box, rows: Axis, keys: Axis, chosen: Look
) -> float:
    """One matrix with its labels, its bar and its error; returns where it ends."""
    size = chosen.size
    limit = largest(view.values)
    weights = view.stage == "weights"
    colours = of_weights(view.values, chosen) if weights else of_signed(view.values, limit)
    axes.put_matrix(sheet, box, colours, chosen)
    axes.put_rows(sheet, box, rows, size, LONGEST)
    if view.cols == "key":
        axes.put_columns(sheet, box, keys, size, LONGEST)
    below = box.bottom + 4
    if weights:
        end = axes.put_weight_bar(sheet, box.x, below, chosen, box.width)
    else:
        end = axes.put_signed_bar(sheet, box.x, below, box.width, limit, size - 0.5)
    if view.error is None:
        return end
    texts = (f"max |ours − model| {view.error:.1g}", f"error {view.error:.1g}")
    line = below + BAR_HEIGHT + 2 * LINE * size + (LINE * size if weights else 0)
    colour = GOOD if view.ok else BAD
    sheet.text(box.x, line, _fitting(texts, size - 0.5, box.width), size - 0.5, colour=colour)
    return line + 2


def _fitting(texts: tuple[str, str], size: float, room: float) -> str:
    """The long text where there is room for it, else the short one."""
    long, short = texts
    return long if width(long, size) <= room else shortened(short, size, room)
