"""A sheet of small matrices: X with W_Q, W_K, W_V, or Q, K, V; W_O and a mask if there are any.

In: text. A matrix may be CSV, rows of numbers, or the print-out of NumPy and PyTorch. Out: a frozen
`Sheet` whose shapes fit, or `BadInput` that names the matrix and the reason; and the text form of a
whole sheet for an address.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float64

from attnviz import notation
from attnviz.errors import BadInput
from attnviz.notation import TextForm

MatrixName = Literal["x", "w_q", "w_k", "w_v", "q", "k", "v", "w_o", "mask"]
MaskChoice = Literal["none", "causal", "custom"]
ScaleRule = Literal["sqrt", "none", "d"]
MATRICES: tuple[MatrixName, ...] = get_args(MatrixName)
MASKS: tuple[MaskChoice, ...] = get_args(MaskChoice)
SCALE_RULES: tuple[ScaleRule, ...] = get_args(ScaleRule)
FROM_X: tuple[MatrixName, ...] = ("x", "w_q", "w_k", "w_v")
GIVEN: tuple[MatrixName, ...] = ("q", "k", "v")
MAX_TOKENS = 8
MAX_COLUMNS = 8
MAX_MATRIX_CHARS = 4000
LARGEST = 1e6
RESERVED = "~ "  # separators, escaped in the names of tokens
# an added number blocks at or below this, as −1e9 does in many programs
BLOCKING = -1e8
NUMBER = re.compile(r"[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)", re.IGNORECASE)
WRAPPING = re.compile(r"(?:np\.|numpy\.|torch\.)?(?:array|tensor)\s*\(|dtype\s*=\s*[\w.]+|[()]")

Matrix = Float64[np.ndarray, "row column"]


def _bad(code: str, name: str, reason: str, **details: str) -> BadInput:
    """The error of a matrix; `details` are the values that its text needs in any language."""
    return BadInput(f"{name.upper()} cannot be used: {reason}", code=code, matrix=name, **details)


FORM = TextForm(
    lambda _, reason: _bad("bad_sheet", "sheet", f"it is {reason}"),
    separator="~",
    max_chars=8000,
    max_entries=32,
)


@dataclass(frozen=True, eq=False)
class Sheet:
    """The input of a calculation. With "x" among the matrices, q, k and v are products of it.

    `mask` matrices hold 1 where a query may attend to a key and 0 where it may not.
    """

    matrices: Mapping[MatrixName, Matrix]
    mask: MaskChoice = "none"
    scale: ScaleRule = "sqrt"
    tokens: tuple[str, ...] = field(default=())

    @property
    def from_x(self) -> bool:
        """True if q, k and v are products of X."""
        return "x" in self.matrices

    @property
    def n_query(self) -> int:
        return len(self.matrices["x" if self.from_x else "q"])

    @property
    def n_key(self) -> int:
        return len(self.matrices["x" if self.from_x else "k"])

    @property
    def d_head(self) -> int:
        return int(self.matrices["w_q" if self.from_x else "q"].shape[1])

    @property
    def scaling(self) -> float:
        """The factor of the scores."""
        return {"sqrt": 1 / math.sqrt(self.d_head), "none": 1.0, "d": 1 / self.d_head}[self.scale]

    @property
    def may_attend(self) -> Bool[np.ndarray, "query key"]:
        """The mask, True = may attend."""
        if self.mask == "custom":
            return np.asarray(self.matrices["mask"] != 0)
        open_cells = np.ones((self.n_query, self.n_key), dtype=np.bool_)
        return np.tril(open_cells) if self.mask == "causal" else open_cells

    def labels(self, n: int) -> tuple[str, ...]:
        """Names of `n` tokens: those of the sheet, then numbers."""
        return self.tokens[:n] + tuple(map(str, range(len(self.tokens), n)))


def matrix(name: MatrixName, text: str) -> Matrix:
    """The matrix in a text; `BadInput` gives the reason if there is none."""
    if len(text) > MAX_MATRIX_CHARS:
        raise _bad(
            "matrix_too_long",
            name,
            f"it has {len(text)} characters and the limit is {MAX_MATRIX_CHARS}",
            found=str(len(text)),
            limit=str(MAX_MATRIX_CHARS),
        )
    plain = WRAPPING.sub(" ", text.replace("−", "-").replace("–", "-"))
    inner = re.findall(r"\[([^\[\]]*)\]", plain)
    lines = inner if inner else re.split(r"[\n;]", plain)
    rows = [_row(name, line) for line in lines if line.strip(" \t,")]
    if not rows:
        raise _bad("matrix_empty", name, "it is empty; type rows of numbers, one row per line")
    if len({len(row) for row in rows}) > 1:
        counts = ", ".join(str(len(row)) for row in rows)
        raise _bad("matrix_uneven", name, f"its rows differ in length ({counts})", lengths=counts)
    values = np.array(rows, dtype=np.float64)
    if len(values) > MAX_TOKENS or values.shape[1] > MAX_COLUMNS:
        limit = f"{MAX_TOKENS} × {MAX_COLUMNS}"
        reason = f"it is {_shape(values)} and the limit is {limit}"
        raise _bad("matrix_too_large", name, reason, found=_shape(values), limit=limit)
    return _as_mask(values) if name == "mask" else _require_finite(name, values)


def _row(name: str, line: str) -> list[float]:
    rest = NUMBER.sub(" ", line).replace(",", " ").strip()
    if rest:
        word = rest.split()[0]
        raise _bad("matrix_not_a_number", name, f"{word!r} is not a number", asked=word)
    return [float(number) for number in NUMBER.findall(line)]


def _require_finite(name: str, values: Matrix) -> Matrix:
    if not (np.abs(values) <= LARGEST).all():
        reason = f"its numbers must lie between ±{LARGEST:g}"
        raise _bad("matrix_out_of_range", name, reason, limit=f"{LARGEST:g}")
    return values


def _as_mask(values: Matrix) -> Matrix:
    """The mask with 1 = may attend; a matrix to be added to scores, 0 and −∞, is converted."""
    if (values <= BLOCKING).any():
        return np.where(values <= BLOCKING, 0.0, 1.0)
    if not np.isin(values, (0.0, 1.0)).all():
        raise _bad("mask_values", "mask", "it holds other numbers than 1 and 0, or 0 and −inf")
    return values


def sheet(
    matrices: Mapping[MatrixName, Matrix],
    mask: MaskChoice = "none",
    scale: ScaleRule = "sqrt",
    tokens: tuple[str, ...] = (),
) -> Sheet:
    """The sheet of matrices that fit each other; `BadInput` names the first that does not."""
    required = FROM_X if "x" in matrices else GIVEN
    for name in required:
        if name not in matrices:
            raise _bad("matrix_missing", name, "it is missing")
    if mask == "custom" and "mask" not in matrices:
        raise _bad("matrix_missing", "mask", "it is missing")
    result = Sheet(dict(matrices), mask, scale, tokens)
    for name, shape in _required_shapes(result).items():
        values = matrices[name]
        if any(n is not None and n != size for n, size in zip(shape, values.shape, strict=True)):
            reason = f"it is {_shape(values)}, and {_shape_text(shape)} is needed"
            found, wanted = _shape(values), _shape_text(shape)
            raise _bad("matrix_shape", name, reason, found=found, wanted=wanted)
    if not 2 <= min(result.n_query, result.n_key):
        raise _bad("matrix_too_short", required[0], "two tokens are the least")
    return result


def _required_shapes(sheet: Sheet) -> dict[MatrixName, tuple[int | None, int | None]]:
    """The shape that each matrix must have; None where any size fits."""
    matrices = sheet.matrices
    if sheet.from_x:
        d_model = matrices["x"].shape[1]
        shapes: dict[MatrixName, tuple[int | None, int | None]] = {
            "w_q": (d_model, None),
            "w_k": (d_model, sheet.d_head),
            "w_v": (d_model, None),
        }
        d_value = matrices["w_v"].shape[1]
    else:
        shapes = {"k": (None, sheet.d_head), "v": (len(matrices["k"]), None)}
        d_value = matrices["v"].shape[1]
    if "w_o" in matrices:
        shapes["w_o"] = (d_value, None)
    if sheet.mask == "custom":
        shapes["mask"] = (sheet.n_query, sheet.n_key)
    return shapes


def parse(text: str) -> Sheet:
    """The sheet of a text form; `BadInput` for nonsense."""
    parts = FORM.parse(text, _parse_entry)
    mask, scale = parts.get("mask", "none"), parts.get("scale", "sqrt")
    if mask not in MASKS or scale not in SCALE_RULES:
        reason = f"mask is one of {', '.join(MASKS)}, scale of {', '.join(SCALE_RULES)}"
        raise _bad("bad_sheet", "sheet", reason)
    named = {"custom" if name == "mask" else name: name for name in MATRICES}
    matrices = {named[key]: matrix(named[key], parts[key]) for key in named if key in parts}
    tokens = [notation.unescape(token, RESERVED) for token in parts.get("tokens", "").split(" ")]
    return sheet(matrices, mask, scale, tuple(filter(None, tokens))[:MAX_TOKENS])


def _parse_entry(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name, value


def write(sheet: Sheet) -> str:
    """The text form of a sheet."""
    parts = [
        f"{'custom' if name == 'mask' else name}={written(values, ';')}"
        for name, values in sheet.matrices.items()
    ]
    parts += [f"mask={sheet.mask}", f"scale={sheet.scale}"]
    if sheet.tokens:
        parts.append("tokens=" + " ".join(notation.escape(name, RESERVED) for name in sheet.tokens))
    return FORM.write(parts)


def written(values: Matrix, between: str = "\n") -> str:
    """A matrix as rows of numbers in nine digits."""
    comma = "," if between == ";" else ", "
    return between.join(comma.join(notation.write_number(value) for value in row) for row in values)


def _shape(values: Matrix) -> str:
    return f"{values.shape[0]} × {values.shape[1]}"


def _shape_text(shape: tuple[int | None, int | None]) -> str:
    return " × ".join("n" if size is None else str(size) for size in shape)
