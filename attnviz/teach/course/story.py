"""The story model from its weights, part by part: what each part adds to the residual stream.

In: token ids. Out: a `StoryPass`: the vectors at the start, what each layer's attention and MLP
add to them, and the scores (logits) of each next token. The numbers are the model's own: a test
holds the logits to those of the running model. Source: the shape of GPT-2 (Radford et al. 2019).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64

from attnviz.models.loader import embedded_tensor
from attnviz.models.registry import embedded_folder

MODEL, LAYERS, HEADS, EPSILON = "stories", 4, 4, 1e-5
START_MARK, START = "<|endoftext|>", "◉"  # as the story models name their token 0, and as cards do
SPACE = "␣"  # a space that is a token of its own
Without = Literal["none", "attention", "mlp"]
WITHOUT: tuple[Without, ...] = ("none", "attention", "mlp")
Rows = Float64[np.ndarray, "token d_model"]


@dataclass(frozen=True, eq=False)
class StoryPass:
    """One pass: `added` holds (attention, MLP) of each layer; `logits` has a row for each token."""

    start: Rows
    added: tuple[tuple[Rows, Rows], ...]
    logits: Float64[np.ndarray, "token vocab"]

    @property
    def end(self) -> Rows:
        """The residual stream after the last layer: the start and all that was added."""
        parts = [part for pair in self.added for part in pair]
        return np.asarray(self.start + np.sum(parts, axis=0))

    def probabilities(self) -> Float64[np.ndarray, "vocab"]:
        """The softmax of the last row's logits: the distribution of the next token."""
        return np.asarray(softmax(self.logits[-1]))


@dataclass(frozen=True, eq=False)
class HeadPass:
    """A head in a pass: the residual stream that its layer reads, its weights, and its arrows.

    An arrow is a token's value times the head's rows of W_O: what is added at weight 1.
    """

    stream: Rows
    weights: Float64[np.ndarray, "query key"]
    arrows: Rows


def run(
    ids: Int64[np.ndarray, "token"],
    without: Without = "none",
    positions: Int64[np.ndarray, "token"] | None = None,
) -> StoryPass:
    """The pass of these tokens; `without` leaves out one kind of part in every layer.

    Their positions are counted from 0 unless others are given.
    """
    places = position_rows(len(ids))
    stream = start = word_rows(ids) + (places if positions is None else places[positions])
    added = []
    for layer in range(LAYERS):
        attention = _attention(layer, _norm(f"h.{layer}.ln_1", stream))
        attention = attention * (without != "attention")
        stream = stream + attention
        mlp = _mlp(layer, _norm(f"h.{layer}.ln_2", stream)) * (without != "mlp")
        stream = stream + mlp
        added.append((attention, mlp))
    return StoryPass(start, tuple(added), next_logits(stream))


def next_logits(stream: Rows) -> Float64[np.ndarray, "token vocab"]:
    """The scores of each next token, read from rows of the residual stream.

    For rows of an earlier layer that is the logit lens (nostalgebraist 2020).
    """
    return np.asarray(_norm("ln_f", stream) @ _weight("wte.weight").T)


def head_pass(ids: Int64[np.ndarray, "token"], layer: int, head: int) -> HeadPass:
    """A head in the pass of these tokens."""
    passed = run(ids)
    stream = passed.start + sum(sum(pair) for pair in passed.added[:layer])
    weights, values = _heads(layer, _norm(f"h.{layer}.ln_1", stream))[head]
    rows = np.split(_weight(f"h.{layer}.attn.c_proj.weight"), HEADS)[head]
    return HeadPass(np.asarray(stream), weights, np.asarray(values @ rows))


def word_rows(ids: Int64[np.ndarray, "token"]) -> Rows:
    """The row of each token in the embedding table."""
    return np.asarray(_weight("wte.weight")[ids])


def position_rows(n: int) -> Rows:
    """The rows of the first positions."""
    return np.asarray(_weight("wpe.weight")[:n])


def hidden_width() -> int:
    """The number of columns inside an MLP."""
    return int(_weight("h.0.mlp.c_fc.weight").shape[1])


def inside_mlp(ids: Int64[np.ndarray, "token"]) -> Float64[np.ndarray, "2 d_hidden"]:
    """The last token's row inside the first layer's MLP: before its GELU, and after it."""
    stream = word_rows(ids) + position_rows(len(ids))
    stream = stream + _attention(0, _norm("h.0.ln_1", stream))
    hidden = _linear("h.0.mlp.c_fc", _norm("h.0.ln_2", stream))[-1]
    return np.stack([hidden, _gelu(hidden)])


def softmax(scores: Float64[np.ndarray, "*row key"]) -> Float64[np.ndarray, "*row key"]:
    """The softmax of each row; −∞ gets 0."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))


@cache
def vocabulary(space: str = "") -> tuple[str, ...]:
    """The text of each token, by its number, with `space` for the space before a word."""
    folder = embedded_folder(MODEL)
    assert folder is not None, "the model is embedded"
    numbers = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    in_order = sorted(numbers, key=numbers.__getitem__)
    names = (name.replace("Ġ", space) or SPACE for name in in_order)
    return with_start(tuple(names))


def names(ids: Iterable[int], space: str = "") -> tuple[str, ...]:
    """The texts of these tokens."""
    return tuple(vocabulary(space)[token] for token in ids)


def with_start(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The names of tokens, with the start mark of the story models as a dot in a ring."""
    return tuple(START if label == START_MARK else label for label in labels)


@cache
def _weight(name: str) -> Float64[np.ndarray, "..."]:
    return embedded_tensor(MODEL, f"transformer.{name}").astype(np.float64)


def _norm(name: str, rows: Rows) -> Rows:
    """Layer norm: each row minus its mean, over its standard deviation, scaled and shifted."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
    return np.asarray(centred / deviation * _weight(f"{name}.weight") + _weight(f"{name}.bias"))


def _linear(
    name: str, rows: Float64[np.ndarray, "token d_in"]
) -> Float64[np.ndarray, "token d_out"]:
    return np.asarray(rows @ _weight(f"{name}.weight") + _weight(f"{name}.bias"))


def _attention(layer: int, rows: Rows) -> Rows:
    """The output of all heads through W_O."""
    mixed = [weights @ values for weights, values in _heads(layer, rows)]
    return _linear(f"h.{layer}.attn.c_proj", np.concatenate(mixed, axis=1))


def _heads(layer: int, rows: Rows) -> list[tuple[np.ndarray, np.ndarray]]:
    """The weights and the values of each head, under the causal mask."""
    q, k, v = np.split(_linear(f"h.{layer}.attn.c_attn", rows), 3, axis=1)
    future = np.triu(np.ones((len(rows), len(rows)), dtype=np.bool_), 1)
    heads = []
    for head in np.split(np.arange(q.shape[1]), HEADS):
        scores = q[:, head] @ k[:, head].T / np.sqrt(len(head))
        heads.append((softmax(np.where(future, -np.inf, scores)), v[:, head]))
    return heads


def _mlp(layer: int, rows: Rows) -> Rows:
    """Two linear layers with GELU between them, on each row alone."""
    return _linear(f"h.{layer}.mlp.c_proj", _gelu(_linear(f"h.{layer}.mlp.c_fc", rows)))


def _gelu(hidden: Float64[np.ndarray, "*token d_hidden"]) -> Float64[np.ndarray, "*token d_hidden"]:
    """GELU in its tanh form (Hendrycks and Gimpel 2016)."""
    inner = np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)
    return np.asarray(0.5 * hidden * (1 + np.tanh(inner)))
