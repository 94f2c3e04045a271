"""The next-token probabilities of a language model, before and after temperature, top-k and top-p.

In: logits, or a capture of a decoder, written text included. Out: probabilities over the vocabulary
(`Distribution`), or the likeliest tokens after each position with the one that follows (`Ranked`).
The filters are those of transformers' `generate`, in its order: logits ÷ temperature; top-k keeps
the k largest and what equals the k-th; top-p drops, from the least likely on, what together has at
most 1 − p of the probability that is left (Holtzman et al. 2020). Temperature 0 is greedy.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int64, UInt8
from torch import Tensor

from attnviz.attention.capture import Capture
from attnviz.errors import BadInput
from attnviz.types import Stack

KEPT, CUT_BY_TOP_K, CUT_BY_TOP_P = 0, 1, 2
NONE = -1
CHUNK_CELLS = 2**22  # logits that are filtered at once, so that a large vocabulary stays in memory


@dataclass(frozen=True, eq=False)
class Distribution:
    """Probabilities over the vocabulary: `before` is what the model says, softmax of its logits;
    `after` is what a token is drawn from. `cut` says of each token whether a filter took it away:
    `KEPT`, `CUT_BY_TOP_K` or `CUT_BY_TOP_P`.
    """

    before: Float32[np.ndarray, "*rows vocab"]
    after: Float32[np.ndarray, "*rows vocab"]
    cut: UInt8[np.ndarray, "*rows vocab"]


@dataclass(frozen=True, eq=False)
class Ranked:
    """The likeliest tokens after each position of a text, from position `first` on.

    Slots hold the likeliest tokens in order, the last slot the token that really follows where it
    is not among them; an empty slot has the id `NONE`. `drawn` is the slot of the token that
    follows and `rank` its place in the vocabulary from 1 on, `NONE` after the last position.
    `others_before` and `others_after` are what all tokens in no slot have together; `n_left` counts
    the tokens that can be drawn.
    """

    first: int
    n_vocabulary: int
    ids: Int64[np.ndarray, "position slot"]
    before: Float32[np.ndarray, "position slot"]
    after: Float32[np.ndarray, "position slot"]
    cut: UInt8[np.ndarray, "position slot"]
    drawn: Int64[np.ndarray, "position"]
    rank: Int64[np.ndarray, "position"]
    others_before: Float32[np.ndarray, "position"]
    others_after: Float32[np.ndarray, "position"]
    n_left: Int64[np.ndarray, "position"]


def distribution(
    logits: Float[Tensor, "*rows vocab"],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Distribution:
    """The probabilities before and after the filters; `top_k` 0 and `top_p` 1 filter nothing.

    Raises `BadInput` for a temperature or `top_k` below 0 and a `top_p` outside 0 to 1.
    """
    _check(temperature, top_k, top_p)
    scores = logits.float()
    before = scores.softmax(-1)
    cut = torch.zeros_like(scores, dtype=torch.uint8)
    if temperature == 0:
        after = torch.zeros_like(scores).scatter(-1, scores.argmax(-1, keepdim=True), 1.0)
    else:
        scores = scores / temperature
        if top_k:
            least = scores.topk(min(top_k, scores.shape[-1])).values[..., -1:]
            cut[scores < least] = CUT_BY_TOP_K
            scores = scores.masked_fill(cut == CUT_BY_TOP_K, -torch.inf)
        if top_p < 1:
            cut[_beyond_top_p(scores, top_p) & (cut == KEPT)] = CUT_BY_TOP_P
            scores = scores.masked_fill(cut == CUT_BY_TOP_P, -torch.inf)
        after = scores.softmax(-1)
    return Distribution(before.cpu().numpy(), after.cpu().numpy(), cut.cpu().numpy())


def ranked(
    capture: Capture,
    count: int,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    batch: int = 0,
    most: int | None = None,
) -> Ranked:
    """The `count` likeliest tokens after each position, or after the `most` last ones of a text.

    Raises `BadInput` where the model gives no logits for each token.
    """
    logits, following = _rows(capture, batch, most)
    n_row, n_vocabulary = logits.shape
    count, step = min(count, n_vocabulary), max(1, CHUNK_CELLS // n_vocabulary)
    parts = [
        _ranked(
            distribution(logits[at : at + step], temperature, top_k, top_p),
            following[at : at + step],
            count,
        )
        for at in range(0, n_row, step)
    ]
    n_token = len(capture.tokens_of(batch, _stack(capture)))
    return Ranked(
        first=n_token - n_row,
        n_vocabulary=n_vocabulary,
        **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]},
    )


def _check(temperature: float, top_k: int, top_p: float) -> None:
    if temperature >= 0 and top_k >= 0 and 0 < top_p <= 1:
        return
    raise BadInput(
        f"cannot draw with temperature {temperature}, top_k {top_k}, top_p {top_p}: temperature and"
        " top_k from 0 on, top_p above 0 and up to 1",
        code="bad_generation",
        asked=f"temperature {temperature}, top_k {top_k}, top_p {top_p}",
    )


def _beyond_top_p(
    scores: Float32[Tensor, "*rows vocab"], top_p: float
) -> Bool[Tensor, "*rows vocab"]:
    ascending, order = scores.sort(-1)
    beyond = ascending.softmax(-1).cumsum(-1) <= 1 - top_p
    beyond[..., -1] = False  # the likeliest token always stays
    return torch.zeros_like(beyond).scatter(-1, order, beyond)


def _stack(capture: Capture) -> Stack | None:
    """The stack whose tokens the logits follow."""
    named: tuple[Stack, ...] = ("decoder", "text")
    return next((stack for stack in named if stack in capture.tokens_by_stack), None)


def _rows(
    capture: Capture, batch: int, most: int | None
) -> tuple[Float[Tensor, "position vocab"], Int64[np.ndarray, "position"]]:
    """The logits of the last positions, and the token that follows each; `NONE` after the last."""
    logits = capture.logits
    if logits is None or logits.dim() != 3:
        raise BadInput(
            f"{capture.model.id} gives no scores for the next token",
            code="no_next_token",
            name=capture.model.id,
        )
    ids = capture.tokens_of(batch, _stack(capture)).ids
    rows = logits[batch] if most is None else logits[batch, -most:]
    following = np.append(ids[1:], NONE)[-len(rows) :]
    return rows, following


def _ranked(
    chances: Distribution, following: Int64[np.ndarray, "position"], count: int
) -> dict[str, np.ndarray]:
    """The fields of `Ranked` for some positions."""
    rows = np.arange(len(following))
    top = _likeliest(chances.before, count)
    known = following != NONE
    likelier = chances.before > chances.before[rows, following][:, None]
    among = (top == following[:, None]) & known[:, None]
    extra = np.where(known & ~among.any(-1), following, NONE)
    ids = np.concatenate([top, extra[:, None]], axis=-1).astype(np.int64)
    empty = ids == NONE
    taken = {
        name: np.where(empty, 0, np.take_along_axis(values, np.maximum(ids, 0), axis=-1))
        for name, values in (
            ("before", chances.before),
            ("after", chances.after),
            ("cut", chances.cut),
        )
    }
    drawn = np.where(among.any(-1), among.argmax(-1), np.where(extra != NONE, count, NONE))
    return {
        "ids": ids,
        "before": taken["before"].astype(np.float32),
        "after": taken["after"].astype(np.float32),
        "cut": taken["cut"].astype(np.uint8),
        "drawn": drawn.astype(np.int64),
        "rank": np.where(known, 1 + likelier.sum(-1), NONE).astype(np.int64),
        "others_before": _others(chances.before, ids),
        "others_after": _others(chances.after, ids),
        "n_left": (chances.after > 0).sum(-1).astype(np.int64),
    }


def _likeliest(
    probabilities: Float32[np.ndarray, "position vocab"], count: int
) -> Int64[np.ndarray, "position slot"]:
    """The tokens with the largest probabilities in order; equal ones in that of the vocabulary."""
    largest = np.sort(np.argpartition(-probabilities, count - 1, axis=-1)[:, :count], axis=-1)
    order = np.argsort(-np.take_along_axis(probabilities, largest, axis=-1), axis=-1, kind="stable")
    ids: Int64[np.ndarray, "position slot"] = np.take_along_axis(largest, order, axis=-1)
    return ids


def _others(
    whole: Float32[np.ndarray, "position vocab"], shown: Int64[np.ndarray, "position slot"]
) -> Float32[np.ndarray, "position"]:
    """The probability of all other tokens; added up, not subtracted, so that nothing stays 0."""
    left = whole.copy()
    rows, slots = np.nonzero(shown != NONE)
    left[rows, shown[rows, slots]] = 0
    total: np.ndarray = left.sum(-1)
    return total
