"""A sheet of small matrices, as typed: X with W_Q, W_K, W_V, or Q, K, V; W_O and a mask if wanted.

In: text. A matrix may be CSV, rows of numbers, or what NumPy and PyTorch print. Out: a frozen
`Sheet` whose shapes fit, or `BadInput` that names the matrix and says what is wrong with it; and
the text form of a whole sheet, which stands in an address.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float64

from attnviz.errors import BadInput

MatrixName = Literal["x", "w_q", "w_k", "w_v", "q", "k", "v", "w_o", "mask"]
MaskChoice = Literal["none", "causal", "custom"]
Scale = Literal["sqrt", "none", "d"]
MATRICES: tuple[MatrixName, ...] = get_args(MatrixName)
MASKS: tuple[MaskChoice, ...] = get_args(MaskChoice)
SCALES: tuple[Scale, ...] = get_args(Scale)
FROM_X: tuple[MatrixName, ...] = ("x", "w_q", "w_k", "w_v")
GIVEN: tuple[MatrixName, ...] = ("q", "k", "v")
MOST_TOKENS = 8
MOST_COLUMNS = 8
LARGEST = 1e6
MOST_CHARS = 8000
# at or below this, an added number blocks, as −1e9 does in many programs
BLOCKING = -1e8
NUMBER = re.compile(r"[-+]?(?:inf|nan|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)", re.IGNORECASE)
WRAPPING = re.compile(r"(?:np\.|numpy\.|torch\.)?(?:array|tensor)\s*\(|dtype\s*=\s*[\w.]+|[()]")

Matrix = Float64[np.ndarray, "row column"]


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is calculated. With "x" among the matrices, q, k, v are products; else they are given.

    `mask` matrices hold 1 where a query may attend to a key and 0 where it may not.
    """

    matrices: Mapping[MatrixName, Matrix]
    mask: MaskChoice = "none"
    scale: Scale = "sqrt"
    tokens: tuple[str, ...] = field(default=())

    @property
    def from_x(self) -> bool:
        """Whether q, k and v are products of X."""
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
        """What the scores are multiplied by."""
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
        return tuple(self.tokens[:n]) + tuple(str(at) for at in range(len(self.tokens[:n]), n))


def matrix(name: MatrixName, text: str) -> Matrix:
    """The matrix in a text; `BadInput` says what is wrong with it."""
    plain = WRAPPING.sub(" ", text.replace("−", "-").replace("–", "-"))
    inner = re.findall(r"\[([^\[\]]*)\]", plain)
    lines = inner if inner else re.split(r"[\n;]", plain)
    rows = [_row(name, line) for line in lines if line.strip(" \t,")]
    if not rows:
        raise _bad("matrix_empty", name, "it is empty; type rows of numbers, one row per line")
    if len({len(row) for row in rows}) > 1:
        counts = ", ".join(str(len(row)) for row in rows)
        raise _bad("matrix_uneven", name, f"its rows differ in length ({counts})", lengths=counts)
    found = np.array(rows, dtype=np.float64)
    if len(found) > MOST_TOKENS or found.shape[1] > MOST_COLUMNS:
        limit = f"{MOST_TOKENS} × {MOST_COLUMNS}"
        reason = f"it is {_shape(found)} and the limit is {limit}"
        raise _bad("matrix_too_large", name, reason, found=_shape(found), limit=limit)
    return _as_mask(found) if name == "mask" else _finite(name, found)


def _row(name: str, line: str) -> list[float]:
    rest = NUMBER.sub(" ", line).replace(",", " ").strip()
    if rest:
        word = rest.split()[0]
        raise _bad("matrix_not_a_number", name, f"{word!r} is not a number", asked=word)
    return [float(number) for number in NUMBER.findall(line)]


def _finite(name: str, found: Matrix) -> Matrix:
    if not (np.abs(found) <= LARGEST).all():
        reason = f"its numbers must lie between ±{LARGEST:g}"
        raise _bad("matrix_out_of_range", name, reason, limit=f"{LARGEST:g}")
    return found


def _as_mask(found: Matrix) -> Matrix:
    """1 = may attend. A matrix that is added to scores, 0 and −∞, is turned into that."""
    if (found <= BLOCKING).any():
        return np.where(found <= BLOCKING, 0.0, 1.0)
    if not np.isin(found, (0.0, 1.0)).all():
        raise _bad("mask_values", "mask", "it holds other numbers than 1 and 0, or 0 and −inf")
    return found


def sheet(
    matrices: Mapping[MatrixName, Matrix],
    mask: MaskChoice = "none",
    scale: Scale = "sqrt",
    tokens: tuple[str, ...] = (),
) -> Sheet:
    """A sheet whose matrices fit each other; `BadInput` names the first that does not."""
    needed = FROM_X if "x" in matrices else GIVEN
    for name in needed:
        if name not in matrices:
            raise _bad("matrix_missing", name, "it is missing")
    if mask == "custom" and "mask" not in matrices:
        raise _bad("matrix_missing", "mask", "it is missing")
    made = Sheet(dict(matrices), mask, scale, tokens)
    for name, wanted in _shapes(made).items():
        found = matrices[name]
        if name in matrices and any(
            size is not None and size != has for size, has in zip(wanted, found.shape, strict=True)
        ):
            reason = f"it is {_shape(found)}, and {_wanted(wanted)} is needed"
            raise _bad("matrix_shape", name, reason, found=_shape(found), wanted=_wanted(wanted))
    if not 2 <= min(made.n_query, made.n_key):
        raise _bad("matrix_too_short", needed[0], "two tokens are the least")
    return made


def _shapes(made: Sheet) -> dict[MatrixName, tuple[int | None, int | None]]:
    """The shape that each matrix must have, None where it is free."""
    of = made.matrices
    if made.from_x:
        d_model = of["x"].shape[1]
        found: dict[MatrixName, tuple[int | None, int | None]] = {
            "w_q": (d_model, None),
            "w_k": (d_model, made.d_head),
            "w_v": (d_model, None),
        }
        d_value = of["w_v"].shape[1]
    else:
        found = {"k": (None, made.d_head), "v": (len(of["k"]), None)}
        d_value = of["v"].shape[1]
    if "w_o" in of:
        found["w_o"] = (d_value, None)
    if made.mask == "custom":
        found["mask"] = (made.n_query, made.n_key)
    return found


def parse(text: str) -> Sheet:
    """The sheet of a text form, `write`'s inverse; `BadInput` for nonsense."""
    if len(text) > MOST_CHARS:
        raise _bad("bad_sheet", "sheet", f"it is longer than {MOST_CHARS} characters")
    parts = dict(part.partition("=")[::2] for part in text.split("~"))
    mask, scale = parts.get("mask", "none"), parts.get("scale", "sqrt")
    if mask not in MASKS or scale not in SCALES:
        reason = f"mask is one of {', '.join(MASKS)}, scale of {', '.join(SCALES)}"
        raise _bad("bad_sheet", "sheet", reason)
    named = {"custom" if name == "mask" else name: name for name in MATRICES}
    matrices = {named[key]: matrix(named[key], parts[key]) for key in named if key in parts}
    tokens = tuple(filter(None, parts.get("tokens", "").split(" ")))[:MOST_TOKENS]
    return sheet(matrices, mask, scale, tokens)


def write(made: Sheet) -> str:
    """The text form of a sheet."""
    parts = [
        f"{'custom' if name == 'mask' else name}={written(of, ';')}"
        for name, of in made.matrices.items()
    ]
    parts += [f"mask={made.mask}", f"scale={made.scale}"]
    if made.tokens:
        parts.append("tokens=" + " ".join(made.tokens))
    return "~".join(parts)


def written(values: Matrix, between: str = "\n") -> str:
    """A matrix as rows of numbers."""
    comma = "," if between == ";" else ", "
    return between.join(comma.join(f"{value:.9g}" for value in row) for row in values)


def _shape(of: Matrix) -> str:
    return f"{of.shape[0]} × {of.shape[1]}"


def _wanted(shape: tuple[int | None, int | None]) -> str:
    return " × ".join("n" if size is None else str(size) for size in shape)


def _bad(code: str, name: str, reason: str, **details: str) -> BadInput:
    """The error of a matrix; `details` are the values that its text needs in any language."""
    return BadInput(f"{name.upper()} cannot be used: {reason}", code=code, matrix=name, **details)
