"""`embed`: the map of queries and keys of every head, from one pass over any number of texts.

In: a model and texts, or pictures. Out: an `Embedding`. A key scores high with a query when it lies
far out in the query's direction; near does not mean attended. By t-SNE, one head's `Neighbours`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, get_args, overload

import numpy as np
from jaxtyping import Float32

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import batch_row
from attnviz.capture.arguments import Picture
from attnviz.capture.run import capture
from attnviz.corpus.biplot import Biplot, Moments, biplot, dot_product, moments
from attnviz.corpus.neighbours import Neighbours, neighbours
from attnviz.corpus.shards import SHARD, batches
from attnviz.corpus.texts import Texts, pieces, read_texts, require_reader
from attnviz.errors import bad_argument, require_callback, require_one_of
from attnviz.metrics.patterns import counted_queries
from attnviz.metrics.table import HeadTable
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.summary import counted
from attnviz.types import Head, HeadId, ModelKey, head_row, ignore

PICTURES = 16  # that run at once
Method = Literal["scores", "tsne"]
METHODS: tuple[Method, ...] = get_args(Method)
Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class MapPlaces:
    """The tokens of one text in the planes of all heads: x·y is the score of a query with a key,
    relative to the mean key, as well as two numbers can say it."""

    queries: Float32[np.ndarray, "head token axis"]
    keys: Float32[np.ndarray, "head token axis"]


@dataclass(frozen=True, eq=False)
class Embedding:
    """The planes of every head of a model; `heads` are in the order of `places`.

    `rotated` is True where queries and keys are drawn after a rotary embedding: then a token's
    place depends on its position too.
    """

    model: ModelKey
    heads: tuple[HeadId, ...]
    layers: tuple[Biplot, ...]
    rotated: bool
    n_text: int
    n_token: int

    def table(self) -> HeadTable:
        """One row for each head: what its plane keeps, and what all queries have in common.

        `kept` is the share of the variance of the scores within their rows; `popularity` the share
        of it that does not depend on the query.
        """
        return HeadTable(
            {
                "stack": np.full(len(self.heads), ""),
                "kind": np.full(len(self.heads), "self"),
                "layer": np.array([head.layer for head in self.heads]),
                "head": np.array([head.head for head in self.heads]),
                "kept": np.concatenate([layer.kept for layer in self.layers]),
                "popularity": np.concatenate([layer.popularity for layer in self.layers]),
            }
        )

    def to_dict(self) -> dict[str, list[float | int | str]]:
        """The columns of `table()` as lists: `pandas.DataFrame(embedding.to_dict())`."""
        return self.table().to_dict()

    def kept(self, head: Head) -> float:
        """The share of what tells keys apart that a head's plane keeps."""
        return float(self.table()["kept"][self.row(head)])

    def row(self, head: Head) -> int:
        """The place of a head among `heads`; raises `BadInput` if there is none."""
        return head_row(head, self.heads, "map")

    def place(self, cap: Capture, batch: int = 0) -> MapPlaces:
        """The tokens of one text of a capture on the map, special ones included.

        Raises `BadInput` for a capture by another model.
        """
        if cap.model != self.model:
            raise bad_argument(
                f"the capture is by {cap.model.id}; give one by {self.model.id}",
                name="cap",
                found=cap.model.id,
                allowed=self.model.id,
            )
        queries, keys = [], []
        for call, layer in zip(_calls(cap), self.layers, strict=True):
            inputs = dot_product(call)
            n_shared = inputs.n_heads // inputs.n_kv_heads
            query = batch_row(inputs.query, batch).float().cpu().numpy()
            key = batch_row(inputs.key, batch).float().cpu().numpy()
            queries.append(layer.queries(query))
            keys.append(layer.keys(np.repeat(key, n_shared, axis=0)))
        return MapPlaces(*(np.concatenate(side).astype(np.float32) for side in (queries, keys)))

    def __repr__(self) -> str:
        texts, tokens = counted(self.n_text, "text"), counted(self.n_token, "token")
        heads = counted(len(self.heads), "head")
        return f"Embedding of {self.model.id}: {heads}, fitted on {texts}, {tokens}"


@overload
def embed(
    lm: LoadedModel | str | Path,
    texts: Texts | Sequence[Picture],
    *,
    method: Literal["scores"] = "scores",
    progress: Progress = ignore,
) -> Embedding: ...


@overload
def embed(
    lm: LoadedModel | str | Path,
    texts: Texts | Sequence[Picture],
    *,
    method: Literal["tsne"],
    head: Head,
    seed: int = 0,
    progress: Progress = ignore,
) -> Neighbours: ...


def embed(
    lm: LoadedModel | str | Path,
    texts: Texts | Sequence[Picture],
    *,
    method: Method | str = "scores",
    head: Head | None = None,
    seed: int = 0,
    progress: Progress = ignore,
) -> Embedding | Neighbours:
    """Find the plane of every head in which inner products are nearest to its scores.

    Parameters:

    - `lm`: a loaded model, or a name, hub id or folder.
    - `texts`: a list of texts, or a path as `attnviz.survey` takes it; pictures for a model of
      pictures. They are read once, and no vector is kept. Only words are fitted to; `place` of the
      result puts special tokens on the map as well.
    - `method`: "scores", or "tsne", which draws one `head` as AttentionViz does instead, with how
      little its distances say of scores; `seed` chooses the picture. It needs
      `pip install 'attnviz[maps]'`.
    - `progress` is called with the number of texts that were read.

    Returns an `Embedding`; with "tsne" the `Neighbours` of one head.

    Raises `BadInput` for texts that cannot be read or none at all, and for arguments that do not go
    together, `UnsupportedAttention` for a model whose q and k are not known, `MissingExtra` for
    t-SNE without openTSNE, and `TooLarge` for t-SNE of more than 10,000 tokens.

    Example:

    >>> attnviz.embed("stories", ["Once upon a time there was a cat.", "Tom had a red ball."])
    Embedding of stories: 16 heads, fitted on 2 texts, 15 tokens
    """
    require_callback(progress)
    require_one_of("method", method, METHODS)
    if (method == "tsne") != (head is not None):
        raise bad_argument(
            f'head is {head} with method="{method}"; t-SNE draws one head, "scores" all of them',
            name="head",
            found=str(head),
            allowed="a head such as L5.H11" if method == "tsne" else "None",
        )
    loaded = lm if isinstance(lm, LoadedModel) else load(lm)
    caps = _of_pictures(loaded, texts) if loaded.kind == "vision" else _of_texts(loaded, texts)
    if head is None:
        return embed_captures(caps, progress)
    kept = list(_told(caps, progress))
    heads = _heads(_calls(kept[0])) if kept else ()
    return neighbours(kept, heads[head_row(head, heads, "map")], seed=seed)


def _told(caps: Iterable[Capture], progress: Progress) -> Iterator[Capture]:
    """The captures; `progress` is called with the number of their texts."""
    n_text = 0
    for cap in caps:
        n_text += cap.n_batch
        progress(n_text)
        yield cap


def _heads(calls: Sequence[AttentionCall]) -> tuple[HeadId, ...]:
    return tuple(
        HeadId(layer, head) for layer, call in enumerate(calls) for head in range(call.n_heads)
    )


def embed_captures(caps: Iterable[Capture], progress: Progress = ignore) -> Embedding:
    """The map of texts that were captured, each capture in one or several rows."""
    sums: list[Moments] = []
    n_text = 0
    first: Capture | None = None
    heads: tuple[HeadId, ...] = ()
    for cap in caps:
        words = np.stack([counted_queries(cap.tokens_of(row)) for row in range(cap.n_batch)])
        if not words.any():
            continue
        calls = _calls(cap)
        new = [moments(call, words) for call in calls]
        sums = [a + b for a, b in zip(sums, new, strict=True)] if sums else new
        if first is None:
            first = cap
            heads = _heads(calls)
        n_text += cap.n_batch
        progress(n_text)
    if first is None:
        raise bad_argument(
            "there is no word to draw; give texts with words in them",
            name="texts",
            found="no words",
            allowed="a text",
        )
    return Embedding(
        model=first.model,
        heads=heads,
        layers=tuple(biplot(layer) for layer in sums),
        rotated=any(layer.rotated for layer in sums),
        n_text=n_text,
        n_token=sums[0].n,
    )


def _calls(cap: Capture) -> list[AttentionCall]:
    """The self-attention of each layer of the first stack."""
    return [cap.call(layer) for layer in range(cap.n_layers)]


def _of_texts(lm: LoadedModel, texts: object) -> Iterator[Capture]:
    require_reader(lm, "a map reads plain texts, with an encoder or a decoder, or pictures")
    source = texts if isinstance(texts, str | Path) else _listed(texts)
    rest = pieces(lm, read_texts(source))
    while group := list(islice(rest, SHARD)):
        ids = lm.tokenize(group, truncation=True, max_length=lm.max_tokens)["input_ids"]
        for places in batches([len(row) for row in ids]):
            yield capture(lm, [group[place] for place in places], cut=True)


def _of_pictures(lm: LoadedModel, pictures: object) -> Iterator[Capture]:
    rest = iter(_listed(pictures))
    while group := list(islice(rest, PICTURES)):
        yield capture(lm, image=group)  # type: ignore[arg-type]  # checked by the request


def _listed(texts: object) -> Iterable[object]:
    if isinstance(texts, Iterable):
        return texts
    raise bad_argument(
        f"a map reads a list of texts, or a path; {type(texts).__name__} was given",
        name="texts",
        found=type(texts).__name__,
        allowed="list",
    )
