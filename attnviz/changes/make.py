"""`ablate`, `patch`, `cut`, `pattern`, `edit`, `mask`: changes from what a caller gives, checked.

In: a site as text or data, and the change's own arguments. Out: one frozen change. What no model
could do is refused here, with what was asked and what is allowed; what this model cannot do is
refused when the change meets it.
"""

import math
import re
from operator import index as as_index
from typing import SupportsIndex, cast

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.attention.capture import Capture
from attnviz.attention.edits import EVERY, parse_one
from attnviz.changes.kinds import (
    ABLATION_KINDS,
    PATCHED,
    Ablate,
    AblationKind,
    Corpus,
    CorpusTexts,
    Cut,
    Edited,
    Mask,
    Patch,
    PatchedStage,
    Pattern,
)
from attnviz.changes.site import site
from attnviz.errors import BadMask, not_allowed, require_one_of, require_type
from attnviz.masks.spec import MaskSet, parse_joined
from attnviz.types import Where

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
EVEN = "even"
MAX_SEED = 2**31 - 1


def ablate(
    head: Where, to: str = "mean", *, corpus: CorpusTexts | None = None, seed: int = 0
) -> Ablate:
    """Take a head away: its output becomes its mean over a corpus, a draw from it, or zero.

    It is replaced at every position of the text, special tokens included; the mean is over all
    tokens of the corpus, special ones included and padding not. `corpus` is a list of texts, which
    is recorded once for each model and list; without one it is 50 examples that come with attnviz,
    such as generated stories. Raises `BadInput` for another `to`, a seed without anything to draw,
    or a corpus for "zero".
    """
    require_one_of("to", to, ABLATION_KINDS)
    reference = corpus if isinstance(corpus, Corpus) or corpus is None else _texts(corpus)
    if reference is not None and to == "zero":
        raise not_allowed("corpus", "given", 'no corpus where to="zero"')
    if seed and to != "resample":
        raise not_allowed("seed", seed, 'a seed only where to="resample"')
    return Ablate(site(head), cast(AblationKind, to), _index("seed", seed, MAX_SEED), reference)


def patch(
    head: Where,
    source: Capture,
    stage: str = "mixed",
    *,
    batch: int = 0,
    position: int | None = None,
    name: str = "source",
) -> Patch:
    """Keep a head's q, k, v, weights or output (`mixed`) from another run.

    Raises `BadInput` for another stage or what is no capture.
    """
    require_type("patch", "source", source, Capture, "give attnviz.capture(model, text)")
    require_one_of("stage", stage, PATCHED)
    place = None if position is None else _index("position", position)
    kept = cast(PatchedStage, stage)
    return Patch(site(head), kept, source, _index("batch", batch), place, _name(name))


def cut(
    head: Where,
    query: SupportsIndex | None = None,
    key: SupportsIndex | None = None,
    *,
    renormalise: bool = True,
) -> Cut:
    """Take an edge away: from a query to a key, from a query to all, or from all to a key.

    Raises `BadInput` where neither a query nor a key is given.
    """
    if query is None and key is None:
        raise not_allowed("query and key", None, "a query, a key, or both")
    asking, answering = (
        None if value is None else _index(name, value)
        for name, value in (("query", query), ("key", key))
    )
    return Cut(site(head), asking, answering, bool(renormalise))


def pattern(
    head: Where,
    to: str | Float[np.ndarray | Tensor, "query key"] = EVEN,
    *,
    temperature: float | int | None = None,
    name: str = "own",
) -> Pattern:
    """Replace a head's weights: "even", a matrix [query, key], or its own at another temperature.

    Raises `BadInput` for numbers that are no weights: below 0, or rows that sum to more than 1.
    """
    if temperature is not None:
        if not (math.isfinite(temperature) and temperature > 0):
            raise not_allowed("temperature", temperature, "a number above 0")
        if not (isinstance(to, str) and to == EVEN):
            raise not_allowed("to", "a matrix and a temperature", "one of both")
        return Pattern(site(head), "temperature", temperature=float(temperature))
    if isinstance(to, str):
        require_one_of("to", to, (EVEN,))
        return Pattern(site(head), "even")
    return Pattern(site(head), "matrix", weights=_weights(to), name=_name(name))


def edit(head: Where, stage: str, row: int, column: int | None, to: float) -> Edited:
    """Set one entry of a head's q, k, v, scores, or of what enters its softmax ("masked").

    In "masked", −∞ blocks a cell; there a `column` of None is the whole row, which −∞ blocks and +∞
    opens. Raises `BadInput` for another stage, a position below 0 or a value that is not a number.
    """
    place = site(head)
    if place.head is None:
        raise not_allowed("head", place, "one head, such as L2.H1")
    at_row, at_column = (
        EVERY if index is None else str(_index(name, index))
        for name, index in (("row", row), ("column", column))
    )
    return Edited(place, parse_one(f"{stage}.{at_row}.{at_column}={float(to)!r}"))


def mask(
    head: Where,
    to: str | MaskSet | Bool[np.ndarray | Tensor, "query key"],
    *,
    name: str = "own",
) -> Mask:
    """Replace a head's mask: by named masks, "causal+window:4", or by a matrix [query, key].

    In a matrix True means that the query may attend. The names are those of `attnviz.masks`;
    "none" lets every query attend to every key, padding included. Raises `BadInput` for a name that
    is no mask, `BadMask` for a matrix of another shape or type.
    """
    if isinstance(to, MaskSet):
        return Mask(site(head), to)
    if isinstance(to, str):
        return Mask(site(head), parse_joined(to))
    return Mask(site(head), may_attend=_boolean(to), name=_name(name))


def _boolean(may_attend: object) -> Tensor:
    """A mask as a tensor; `BadMask` unless it is boolean and [query, key]."""
    matrix = torch.as_tensor(may_attend) if isinstance(may_attend, np.ndarray | Tensor) else None
    if matrix is None or matrix.dtype != torch.bool or matrix.dim() != 2:
        shown = type(may_attend).__name__ if matrix is None else f"{matrix.dtype} {[*matrix.shape]}"
        raise BadMask(
            f"the mask is {shown}; give a boolean matrix [query, key] with True = may attend",
            code="mask_shape",
            found=shown,
            wanted="bool [query, key]",
        )
    return matrix


def _texts(corpus: object) -> tuple[str, ...]:
    texts = tuple(corpus) if isinstance(corpus, list | tuple) else ()
    if not texts or not all(isinstance(text, str) for text in texts):
        raise not_allowed("corpus", type(corpus).__name__, "a list of texts, or a Corpus")
    return texts


def _weights(matrix: object) -> Tensor:
    if not isinstance(matrix, np.ndarray | Tensor):
        raise not_allowed("to", type(matrix).__name__, '"even" or a matrix [query, key]')
    weights = torch.as_tensor(matrix).detach().float()
    if weights.dim() != 2:
        raise not_allowed("to", f"an array {[*weights.shape]}", "a matrix [query, key]")
    if not bool((weights >= 0).all()) or float(weights.sum(-1).max()) > 1 + 1e-4:
        raise not_allowed("to", "a matrix", "weights from 0 on whose rows sum to 1 at most")
    return weights


def _index(name: str, value: object, most: int = 99_999) -> int:
    try:
        number = as_index(value)  # type: ignore[arg-type]  # what is no number raises
    except TypeError:
        number = -1
    if isinstance(value, bool) or not 0 <= number <= most:
        raise not_allowed(name, value, f"a whole number from 0 to {most}")
    return number


def _name(name: str) -> str:
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        raise not_allowed("name", name, "a letter, then letters, digits, _ and -, 32 at most")
    return name
