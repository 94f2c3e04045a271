"""One head's queries and keys by t-SNE, as AttentionViz draws them, with what the picture keeps.

In: captures and a head. Out: `Neighbours`. The normalisation is AttentionViz' (Yeh et al., 2023):
queries times c and keys over c, so that both are about as long, and the keys moved to the mean
query. Dot products keep their order in every row and the softmax its weights: c cancels, and moving
all keys by t adds the one number q·t to a row. (AttentionViz writes "query and key": moving queries
would change the weights.) Distances in the picture say less of attention than the plane of `biplot`
does, hence `kept` beside `kept_by_plane`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int64

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.corpus.biplot import Biplot, biplot, dot_product, is_rotated, moments
from attnviz.errors import TooLarge, bad_argument, require_package
from attnviz.experiment.correlations import mid_ranks
from attnviz.metrics.patterns import counted_queries
from attnviz.types import HeadId, ModelKey

PERPLEXITY = 30
EXAGGERATED, ITERATIONS, EVERY = 250, 500, 25
ANGLE = 0.8  # up to which far points count as one, in Barnes and Hut's approximation
MAX_TOKENS = 10_000  # the time grows with their square: 1,000 take some seconds
MIN_TOKENS = 8
MIN_KEYS = 3  # of a row whose order is compared
Progress = Callable[[float], None]


class _Vectors(NamedTuple):
    """The q and k of one head of one text, without padding, and the cells whose order counts."""

    query: Float64[np.ndarray, "token d_head"]
    key: Float64[np.ndarray, "token d_head"]
    cells: Bool[np.ndarray, "token token"]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The tokens of some texts, one text after the other, as t-SNE places one head's q and k.

    `text_of` is the number of each token's text. `kept` is the median over queries of the rank
    correlation, within a text, of nearness with the score; `kept_by_plane` the same of the inner
    products in the plane of `Biplot`, fitted to the same texts. `rotated` as in `Embedding`.
    """

    model: ModelKey
    head: HeadId
    text_of: Int64[np.ndarray, " token"]
    queries: Float32[np.ndarray, "token axis"]
    keys: Float32[np.ndarray, "token axis"]
    kept: float
    kept_by_plane: float
    rotated: bool
    seed: int

    def __repr__(self) -> str:
        return (
            f"Neighbours of {self.head} of {self.model.id}: {len(self.queries)} tokens, nearness"
            f" agrees with scores by {self.kept:.2f} (plane: {self.kept_by_plane:.2f})"
        )


def neighbours(
    caps: Sequence[Capture], head: HeadId, *, seed: int = 0, progress: Progress | None = None
) -> Neighbours:
    """Place one head's queries and keys by t-SNE; special tokens too, padding not.

    `progress` is called with the fraction that is done; it may raise `Cancelled`. One seed gives
    one picture on one machine. Raises `MissingExtra` without openTSNE, `BadInput` for too few
    tokens, `TooLarge` for more than 10,000.
    """
    require_package("openTSNE", 'a map with method="tsne"', "maps")
    texts = [
        _vectors(cap, head, row)
        for cap in caps
        for row in range(cap.n_batch)
        if not cap.tokens_of(row).padding.all()
    ]
    n_token = sum(len(text.query) for text in texts)
    _require_fitting(n_token)
    query, key = (np.concatenate([text[side] for text in texts]) for side in (0, 1))
    points = np.concatenate(normalised(query, key))
    placed = _placed(points, seed, progress)
    lengths = [len(text.query) for text in texts]
    text_of = np.repeat(np.arange(len(texts)), lengths)
    asks, answers = placed[:n_token], placed[n_token:]
    return Neighbours(
        model=caps[0].model,
        head=head,
        text_of=text_of,
        queries=asks,
        keys=answers,
        kept=_agreement(texts, _nearness(np.split(asks, _ends(texts)), answers, texts)),
        kept_by_plane=_agreement(texts, _products(_plane(caps, head), head, texts)),
        rotated=is_rotated(caps[0].call(head.layer)),
        seed=seed,
    )


def normalised(
    query: Float[np.ndarray, "token d_head"], key: Float[np.ndarray, "token d_head"]
) -> tuple[Float64[np.ndarray, "token d_head"], Float64[np.ndarray, "token d_head"]]:
    """Queries and keys of one head in AttentionViz' normalisation, in which attention is the same.

    c = √(median‖k‖ ÷ median‖q‖) makes them equally long; the keys move so that both means agree.
    """
    query, key = query.astype(np.float64), key.astype(np.float64)
    lengths = [float(np.median(np.linalg.norm(side, axis=1))) for side in (query, key)]
    factor = np.sqrt(lengths[1] / lengths[0]) if min(lengths) > 0 else 1.0
    query, key = query * factor, key / factor
    return query, key + (query.mean(axis=0) - key.mean(axis=0))


def _vectors(cap: Capture, head: HeadId, row: int) -> _Vectors:
    call = cap.call(head.layer)
    tokens = cap.tokens_of(row)
    real, words = ~tokens.padding, counted_queries(tokens)
    query, key = dot_product(call).qkv(head.head, row)[:2]
    visible = call.visible(row).cpu().numpy() & words[:, None] & words[None, :]
    asks, answers = (side.cpu().numpy().astype(np.float64)[real] for side in (query, key))
    return _Vectors(asks, answers, visible[real][:, real])


def _require_fitting(n_token: int) -> None:
    if n_token < MIN_TOKENS:
        raise bad_argument(
            f"t-SNE places {MIN_TOKENS} tokens and more; the texts have {n_token}",
            name="texts",
            found=n_token,
            allowed=MIN_TOKENS,
        )
    if n_token > MAX_TOKENS:
        raise TooLarge(
            f"t-SNE places at most {MAX_TOKENS} tokens and the texts have {n_token}; give fewer"
            ' texts, or method="scores", which takes any number',
            code="too_many_tokens",
            found=n_token,
            limit=MAX_TOKENS,
            unit="tokens",
        )


def _placed(
    points: Float64[np.ndarray, "point d_head"], seed: int, progress: Progress | None
) -> Float32[np.ndarray, "point axis"]:
    """The t-SNE of the points by the cosine, in one thread, so that a seed gives one picture."""
    from openTSNE import TSNE

    done = 0

    def report(_iteration: int, _error: float, _places: object) -> bool:
        nonlocal done
        done += EVERY
        if progress is not None:
            progress(min(1.0, done / (EXAGGERATED + ITERATIONS)))
        return False

    fitted = TSNE(
        perplexity=min(PERPLEXITY, (len(points) - 1) / 3),
        metric="cosine",
        neighbors="exact",
        negative_gradient_method="bh",
        theta=ANGLE,
        early_exaggeration_iter=EXAGGERATED,
        n_iter=ITERATIONS,
        n_jobs=1,
        random_state=seed,
        callbacks=report,
        callbacks_every_iters=EVERY,
    ).fit(points)
    return np.asarray(fitted, dtype=np.float32)


def _ends(texts: Sequence[_Vectors]) -> list[int]:
    """Where each text but the last ends among all tokens."""
    ends: list[int] = np.cumsum([len(text.query) for text in texts])[:-1].tolist()
    return ends


def _nearness(
    asks: Sequence[np.ndarray],
    answers: Float32[np.ndarray, "token axis"],
    texts: Sequence[_Vectors],
) -> list[Float64[np.ndarray, "_query _key"]]:
    """Minus the distance of each query to each key of its text."""
    return [
        -np.linalg.norm(query[:, None].astype(np.float64) - key[None], axis=-1)
        for query, key in zip(asks, np.split(answers, _ends(texts)), strict=True)
    ]


def _plane(caps: Sequence[Capture], head: HeadId) -> Biplot:
    """The planes of the head's layer, fitted to the words of all captures."""

    def words(cap: Capture) -> Bool[np.ndarray, "text token"]:
        return np.stack([counted_queries(cap.tokens_of(row)) for row in range(cap.n_batch)])

    calls: list[AttentionCall] = [cap.call(head.layer) for cap in caps]
    return biplot(
        reduce(add, (moments(call, words(cap)) for call, cap in zip(calls, caps, strict=True)))
    )


def _products(
    plane: Biplot, head: HeadId, texts: Sequence[_Vectors]
) -> list[Float64[np.ndarray, "_query _key"]]:
    """The inner products in the plane, of each text."""
    of_query, of_key = plane.of_query[head.head], plane.of_key[head.head]
    mean = plane.mean_key[head.head]
    return [(text.query @ of_query) @ ((text.key - mean) @ of_key).T for text in texts]


def _agreement(
    texts: Sequence[_Vectors], drawn: Sequence[Float64[np.ndarray, "_query _key"]]
) -> float:
    """The median over queries of the rank correlation of what is drawn with the score."""
    found = []
    for text, picture in zip(texts, drawn, strict=True):
        scores = text.query @ text.key.T
        for row, cells in enumerate(text.cells):
            if cells.sum() >= MIN_KEYS:
                found.append(rank_correlation(picture[row, cells], scores[row, cells]))
    known = [value for value in found if value == value]
    return float(np.median(known)) if known else float("nan")


def rank_correlation(one: Float[np.ndarray, " n"], other: Float[np.ndarray, " n"]) -> float:
    """Spearman's correlation, equal values sharing their mean rank; NaN where one has no order."""
    first, second = (mid_ranks(values) for values in (one, other))
    first, second = first - first.mean(), second - second.mean()
    length = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / length if length > 0 else float("nan")
