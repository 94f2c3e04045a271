"""A sheet as a program: NumPy with every step spelled out, PyTorch with its own kernel at the end.

In: a `Sheet`. Out: source text; nothing is computed here, and a test runs the programs. Variables
have the names of the stages: q k v scores scaled masked weights mixed projected.
"""

from attnviz.teach.calculator.sheet import Matrix, Sheet

SCALED = {
    "numpy": {
        "sqrt": "scores / np.sqrt(q.shape[1])",
        "none": "scores",
        "d": "scores / q.shape[1]",
    },
    "torch": {
        "sqrt": "scores / math.sqrt(q.shape[1])",
        "none": "scores",
        "d": "scores / q.shape[1]",
    },
}


def numpy_code(sheet: Sheet) -> str:
    """The steps in NumPy."""
    lines = ["import numpy as np", ""]
    lines += [f"{name} = np.array({_rows(values)})" for name, values in _inputs(sheet)]
    lines += [*_products(sheet), "", "scores = q @ k.T", f"scaled = {SCALED['numpy'][sheet.scale]}"]
    if sheet.mask == "none":
        lines.append("masked = scaled")
    else:
        lines += [
            f"may_attend = {_mask(sheet, 'np.array', 'np.tril(np.ones(scaled.shape))')} == 1",
            "masked = np.where(may_attend, scaled, -np.inf)",
        ]
    lines += [
        "weights = np.exp(masked - masked.max(axis=1, keepdims=True))",
        "weights = weights / weights.sum(axis=1, keepdims=True)  # each row sums to 1",
    ]
    if _has_fully_masked_row(sheet):
        # numpy warns of the 0 ÷ 0 above, rightly
        lines.append("weights = np.nan_to_num(weights)  # a row without keys attends to nothing")
    lines.append("mixed = weights @ v")
    if "w_o" in sheet.matrices:
        lines.append("projected = mixed @ w_o")
    return "\n".join(lines)


def torch_code(sheet: Sheet) -> str:
    """The steps in PyTorch, compared with the result of its own kernel."""
    lines = ["import math", "import torch", ""]
    lines += [f"{name} = torch.tensor({_rows(values)})" for name, values in _inputs(sheet)]
    lines += [*_products(sheet), "", "scores = q @ k.T", f"scaled = {SCALED['torch'][sheet.scale]}"]
    scale = {"sqrt": "1 / math.sqrt(q.shape[1])", "none": "1.0", "d": "1 / q.shape[1]"}[sheet.scale]
    mask = ""
    if sheet.mask == "none":
        lines.append("masked = scaled")
    else:
        matrix = _mask(sheet, "torch.tensor", "torch.ones(scaled.shape).tril()")
        lines += [
            f"may_attend = {matrix} == 1",
            'masked = scaled.masked_fill(~may_attend, float("-inf"))',
        ]
        mask = "attn_mask=may_attend, "
    lines.append("weights = torch.softmax(masked, dim=1)")
    if _has_fully_masked_row(sheet):
        lines.append("weights = weights.nan_to_num()  # a row without keys attends to nothing")
    lines += [
        "mixed = weights @ v",
        "kernel = torch.nn.functional.scaled_dot_product_attention(",
        f"    q[None], k[None], v[None], {mask}scale={scale})[0]",
        "assert torch.allclose(mixed, kernel, atol=1e-4)",
    ]
    if "w_o" in sheet.matrices:
        lines.append("projected = mixed @ w_o")
    return "\n".join(lines)


def _inputs(sheet: Sheet) -> list[tuple[str, Matrix]]:
    return [(name, values) for name, values in sheet.matrices.items() if name != "mask"]


def _products(sheet: Sheet) -> list[str]:
    return ["", "q, k, v = x @ w_q, x @ w_k, x @ w_v"] if sheet.from_x else []


def _mask(sheet: Sheet, array: str, triangle: str) -> str:
    return triangle if sheet.mask == "causal" else f"{array}({_rows(sheet.matrices['mask'])})"


def _has_fully_masked_row(sheet: Sheet) -> bool:
    return not sheet.may_attend.any(axis=1).all()


def _rows(values: Matrix) -> str:
    if len(values) == 0:
        return "[]"
    rows = ["[" + ", ".join(_number(value) for value in row) + "]" for row in values]
    return "[" + ",\n    ".join(rows) + "]"


def _number(value: float) -> str:
    text = f"{value:.9g}"
    return text if any(mark in text for mark in ".e") else text + ".0"
