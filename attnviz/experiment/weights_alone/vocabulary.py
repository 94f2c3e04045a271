"""The tokens of the vocabulary as vectors of the residual stream, and the weights that read logits.

In: the layers of a model with the pass that they were found in. Out: a `Vocabulary`: the embedding
as the first layer meets it, the same with what MLP 0 adds to a token alone (the "effective
embedding", Wang et al. 2022, Gurnee et al. 2024), and an `Unembedding` with the last norm folded
in. What all tokens share is no token's own, so the mean row is taken off, and the mean logit, which
a softmax ignores. Nothing of the size of vocabulary × vocabulary is made.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from attnviz.experiment.dataflow.operations import aten
from attnviz.experiment.dataflow.parts import Walk
from attnviz.experiment.dataflow.rules import Leaf, Rules, joins_activations, layer_of
from attnviz.experiment.dataflow.stream import before_last_linear, last_linear, replay
from attnviz.experiment.dataflow.trace import Operation, Value
from attnviz.experiment.traced_run import TracedRun
from attnviz.experiment.weights_alone.matrices import WRITTEN, Layer, Layers
from attnviz.experiment.weights_alone.norms import Norm, norm_between, read_from

Through = Literal["embedding", "mlp0"]
Which = slice | Int64[Tensor, " token"]
BLOCK = 4096  # so many tokens of the vocabulary at once
COLUMNS = 96  # of a product at once
# operations that send each token elsewhere, as a router of experts does
ROUTES = frozenset((aten.topk, aten.sort, aten.nonzero))


def sum_of(tensors: Iterable[Tensor]) -> Tensor:
    """The sum of tensors that need not all be there at once."""
    return reduce(torch.add, tensors)


def products_of(blocks: Iterable[Tensor]) -> Tensor:
    """Σ XᵀX over blocks of rows; it is symmetric, and half of it is multiplied out."""
    whole = torch.zeros(0)
    for x in blocks:
        width = x.shape[1]
        whole = whole if len(whole) else x.new_zeros(width, width)
        for start in range(0, width, COLUMNS):
            some = slice(start, min(start + COLUMNS, width))
            whole[some, start:].addmm_(x[:, some].T, x[:, start:])
    return whole.triu() + whole.triu(1).T


@dataclass(frozen=True, eq=False)
class Words:
    """Every token of the vocabulary as a vector of the stream; `raw` gives some of them.

    `scaled` is (W_E, s) where these are the rows of W_E times a scale for each component.
    """

    n: int
    raw: Callable[[Which], Tensor]
    scaled: tuple[Tensor, Float[Tensor, " d_model"]] | None = None

    def blocks(self) -> Iterator[slice]:
        """The vocabulary in pieces."""
        for start in range(0, self.n, BLOCK):
            yield slice(start, min(start + BLOCK, self.n))

    def rows(self, which: Which) -> Float[Tensor, "token d_model"]:
        """Some tokens without what all tokens share."""
        return self.raw(which) - self.mean

    def gram(self) -> Float[Tensor, "d_model d_model"]:
        """Σ of the products of each row with itself."""
        return self.products - self.n * torch.outer(self.mean, self.mean)

    @cached_property
    def products(self) -> Float[Tensor, "d_model d_model"]:
        """The same with what all tokens share."""
        return products_of(self.raw(block) for block in self.blocks())

    @cached_property
    def mean(self) -> Float[Tensor, " d_model"]:
        """The mean row, which all tokens share."""
        return sum_of(self.raw(block).sum(0) for block in self.blocks()) / self.n


@dataclass(frozen=True, eq=False)
class Unembedding:
    """The weights that read logits off the stream: `norm` is the last one, `weight` W_U."""

    norm: Norm
    weight: Float[Tensor, "d_model vocab"]

    def columns(self, which: Which) -> Float[Tensor, "d_model token"]:
        """The logits of some tokens above the mean of all, with the norm's γ folded in."""
        return self.norm.before(self.weight[:, which].detach().float() - self._mean)

    def times(self, words: Words) -> Float[Tensor, "d_model d_model"]:
        """W_U·W_E: Σ over the tokens of what reads a token's logit with that token's row.

        Where one table serves as both, that is the product that W_E·W_Eᵀ needs anyway.
        """
        weight = self.weight.detach()
        if words.scaled is not None and _are_one(weight.T, words.scaled[0]):
            whole = words.products / words.scaled[1][:, None]
        else:
            whole = sum_of(weight[:, block].float() @ words.raw(block) for block in words.blocks())
        return self.norm.before(whole - words.n * torch.outer(self._mean[:, 0], words.mean))

    @cached_property
    def _mean(self) -> Float[Tensor, "d_model 1"]:
        blocks = torch.split(self.weight.detach(), BLOCK, dim=1)
        total = sum_of(block.float().sum(1, keepdim=True) for block in blocks)
        return total / self.weight.shape[1]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The embedding of a stack, as its first layer meets it.

    `table` is W_E; `norm` leads from a row of it to `entry`, the state of the stream that `first`
    reads; `places` is what stands there beside the token, at each position of the pass.
    """

    layers: Layers
    first: Layer
    table: Float[Tensor, "vocab d_embedding"]
    norm: Norm
    entry: Value
    places: Float[Tensor, "position d_model"]

    def words(self, through: Through) -> Words:
        """Every token as the first layer meets it, or with what MLP 0 adds to it."""
        return self._embedding if through == "embedding" else self._effective

    @cached_property
    def _embedding(self) -> Words:
        table, norm = self.table, self.norm
        plain = norm.kind == "none" and bool(norm.scale.all())
        return Words(
            len(table),
            lambda which: norm.of(table[which].detach().float()),
            (table, norm.scale) if plain else None,
        )

    @cached_property
    def _effective(self) -> Words:
        start, writes = self.mlp
        words, middle, n = self._embedding, self.places.mean(0), len(self.places)
        whole = torch.empty(words.n, len(middle), device=middle.device)
        with torch.no_grad():
            for ids in torch.split(torch.arange(words.n, device=middle.device), n):
                rows = words.raw(ids)
                stream = torch.zeros(n, len(middle), device=middle.device)
                stream[: len(ids)] = rows + middle
                for write in writes:
                    rows = rows + self.run_from(start, stream, write)[: len(ids)]
                whole[ids] = rows
        return Words(words.n, lambda which: whole[which])

    def run_from(
        self, start: Value, stream: Float[Tensor, "position d_model"], end: Value
    ) -> Float[Tensor, "position d_read"]:
        """The rows of a later value of the pass where other rows stand in the stream."""
        new = stream.reshape(start.tensor.shape).to(start.tensor.dtype)
        read = replay(self.layers.run.trace, start, new, end)
        return read.float().reshape(len(stream), -1)

    @property
    def no_mlp(self) -> str | None:
        """Why no token alone can be sent through MLP 0; None if it can."""
        if self.layers.between:
            return "norms stand between the layers"
        return None if self._writes else "layer 0 has no MLP that every token goes through"

    @cached_property
    def mlp(self) -> tuple[Value, tuple[Value, ...]]:
        """The state that MLP 0 reads, and what its last linear layers write."""
        first = min(_position(write) for write in self._writes)
        sums = [
            output
            for operation in self._operations(first)
            if joins_activations(operation)
            for output in operation.outputs
            if output.tensor.shape == self.entry.tensor.shape
        ]
        return [self.entry, *sums][-1], self._writes

    @cached_property
    def _writes(self) -> tuple[Value, ...]:
        """The values that MLPs wrote into the stream before the second layer."""
        layers = self.layers.layers
        behind = [
            layer for layer in layers[layers.index(self.first) + 1 :] if _alike(layer, self.first)
        ]
        run = self.layers.run
        reading = behind[0].values["v"] if behind else before_last_linear(_answer(run))
        heads = {id(layer.values["out"]) for layer in layers if "out" in layer.values}

        def stop(reached: Value) -> list[Leaf] | None:
            return [Leaf("", WRITTEN, reached.tensor, reached)] if id(reached) in heads else None

        leaves = list(Walk(reading, Rules(sources=stop)).leaves)
        routed = any(one.packet in ROUTES for one in self._operations(_position(reading)))
        if routed or any(leaf.kind == "other" for leaf in leaves):
            return ()
        return tuple(leaf.source for leaf in leaves if leaf.kind == "linear" and leaf.source)

    def _operations(self, stop: int) -> list[Operation]:
        """The operations of the pass behind `entry`."""
        return self.layers.run.trace.operations[_position(self.entry) + 1 : stop]


def _are_one(a: Tensor, b: Tensor) -> bool:
    """True if two tensors are the same memory."""
    same = (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype)
    return same and a.data_ptr() == b.data_ptr()


def _alike(layer: Layer, first: Layer) -> bool:
    """True for a layer of self-attention in the same stack."""
    same = (layer.call.kind, layer.call.stack) == (first.call.kind, first.call.stack)
    return same and "v" in layer.values


def _position(value: Value) -> int:
    return -1 if value.made_by is None else value.made_by.position


def _answer(run: TracedRun) -> Value:
    """The logits, or the only output of a bare module."""
    return run.value("logits" if "logits" in run.output else "output")


def vocabulary_of(layers: Layers) -> Vocabulary | None:
    """The embedding of the stack that answers; None where no table of tokens is looked up."""
    if not layers.layers:
        return None
    answering = layers.layers[-1].call.stack
    first = next(layer for layer in layers.layers if layer.call.stack == answering)
    ids = [one for one in layers.run.prepared.inputs.values() if _are_ids(one)]
    value = first.values.get("v")
    found = None if value is None else read_from(layers.run.trace, value)
    if found is None:
        return None
    entry = found[0]
    for operation in layers.run.trace.operations[: _position(entry) + 1]:
        if operation.packet is aten.embedding and any(
            torch.equal(operation.args[1], some) for some in ids
        ):
            norm = norm_between(layers.run.trace, operation.outputs[0], entry)
            if norm is None:
                continue  # another stack's
            table = operation.args[0]
            looked_up = table[operation.args[1].reshape(-1)].detach().float()
            rows = entry.tensor.detach().float().reshape(len(looked_up), -1)
            places = rows - norm.of(looked_up)
            return Vocabulary(layers, first, table, norm, entry, places)
    return None


def _are_ids(given: object) -> bool:
    """True for whole numbers, of which a mask has only two."""
    return isinstance(given, Tensor) and not given.is_floating_point() and int(given.max()) > 1


def unembedding_of(layers: Layers) -> Unembedding | None:
    """The weights that read logits; None for a model whose logits are not read off the stream."""
    run = layers.run
    if not isinstance(run.output.get("logits", run.output.get("output")), Tensor):
        return None
    made_by = last_linear(_answer(run))
    if made_by is None:
        return None
    layer = layer_of(made_by)
    found = read_from(run.trace, layer.x)
    return None if found is None else Unembedding(found[1], layer.weight)
