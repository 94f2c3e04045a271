"""Attention that a model computes for some of its queries at a time, put together as one call.

So memory is saved: `for i in range(0, n, c): out[:, i:i+c] = softmax(q[:, i:i+c] @ k.T) @ v`. In:
each attention as it is seen, with the rows that its queries, keys and values are of larger tensors.
Out: the attentions to report, those of one loop as one whose queries are numbered as their rows.
They are one only if the queries are all rows of one tensor, each once, and the keys and values of
all parts are the same numbers, or rows of one tensor; what looks like a loop and is none of that is
refused by name. One part alone, as the queries of a [CLS] token are, is a call as it is, and so are
steps of time, of one query each.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from attnviz import masks
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.layers import TensorState
from attnviz.capture.record.gaps import (
    KEYS_IN_PARTS,
    OTHER_KEYS,
    OVERWRITTEN,
    QUERIES_IN_PARTS,
    RUNS_IN_PARTS,
)
from attnviz.capture.record.loops import HeadLoops
from attnviz.capture.record.operations import ScoreSource, Stack, has_one_matrix
from attnviz.capture.record.row_parts import NO_PLACE, RowPart, RowParts
from attnviz.capture.record.seen_attention import SeenAttention
from attnviz.capture.record.sources import Sources
from attnviz.types import Stage

Inputs = AttentionInputs | StoredWeights
CUT_ONLY = 2  # what tells the source of rows that no layer wrote since they were cut out


@dataclass(frozen=True, eq=False)
class Operands:
    """q, k, v [..., token, d] and weights as products took them, where they are known."""

    query: Tensor | None
    key: Tensor | None
    value: Tensor
    weights: Tensor | None = None

    def by_name(self) -> dict[str, Tensor]:
        """Those of q, k and v that are known."""
        named = {"q": self.query, "k": self.key, "v": self.value}
        return {name: tensor for name, tensor in named.items() if tensor is not None}


@dataclass(frozen=True, eq=False)
class _Chunk:
    """An attention, the rows that its q, k and v are of larger tensors, and what layers read."""

    stack: Stack
    seen: SeenAttention
    query: RowPart | None
    key: RowPart | None
    value: RowPart | None
    reads: tuple[Tensor, Tensor] | None
    states: tuple[TensorState, ...] = ()

    def watched(self) -> "_Chunk":
        """The chunk until its loop ends: queries are copied, keys and values are watched."""
        inputs = self.seen.inputs
        copied = {} if inputs.query is None else {"query": inputs.query.clone()}
        if isinstance(inputs, StoredWeights):
            copied["kept"] = inputs.kept.clone()
        kept = [tensor for tensor in (inputs.key, inputs.value) if tensor is not None]
        states = tuple(TensorState.of(tensor, is_counted=False) for tensor in kept)
        seen = replace(self.seen, inputs=replace(inputs, **copied))  # type: ignore[arg-type]
        return replace(self, seen=seen, states=states)

    def is_alike(self, other: "_Chunk") -> bool:
        """True for a chunk of the same module, with as many texts, heads and columns."""
        before, now = (chunk.seen.output.shape for chunk in (self, other))
        is_one_module = self.seen.module is other.seen.module
        return is_one_module and (before[0], *before[2:]) == (now[0], *now[2:])

    def goes_on(self, other: "_Chunk") -> bool:
        """True if another chunk may be one of the same loop."""
        if not self.is_alike(other):
            return False
        before, now = self.seen.inputs, other.seen.inputs
        if self.query is None or other.query is None:
            families = {part.family for part in (self.key, other.key) if part is not None}
            are_queries_same = _are_same(before.query, now.query)
            return self.query is other.query and len(families) == 1 and are_queries_same
        if self.query.is_placed and other.query.is_placed:
            return self.query.family == other.query.family
        is_same = _are_same(before.key, now.key) and _are_same(before.value, now.value)
        return is_same and not _are_same(before.query, now.query)

    def is_before(self, other: "_Chunk") -> bool:
        """True if another chunk has the next rows and the same values, whatever its queries are."""
        is_square = self.seen.inputs.n_query == self.seen.inputs.n_key
        ours, theirs = self.query or (self.key if is_square else None), other.query
        if ours is None or theirs is None or not (ours.is_placed and self.is_alike(other)):
            return False
        are_next = (ours.stop, ours.n_row) == (theirs.start, theirs.n_row)
        values = {part.family for part in (self.value, other.value) if part is not None}
        is_same = self.value == other.value and _are_same(
            self.seen.inputs.value, other.seen.inputs.value
        )
        return are_next and (is_same or len(values) == 1)

    def asks_more(self, other: "_Chunk") -> bool:
        """True if another chunk has other rows of the queries, and the same keys and values."""
        before, now = self.seen.inputs, other.seen.inputs
        is_same = _are_same(before.key, now.key) and _are_same(before.value, now.value)
        is_more = is_same and self.query != other.query and self.goes_on(other)
        return is_more and min(before.n_query, now.n_query) > 1

    def is_beside(self, other: "_Chunk") -> bool:
        """True if another chunk has the same rows of other queries: those of another head."""
        ours, theirs = self.query, other.query
        if ours is None or theirs is None or not self.is_alike(other):
            return False
        rows = [(part.n_row, part.start, part.stop) for part in (ours, theirs)]
        return ours.is_placed and rows[0] == rows[1] and ours.family != theirs.family

    def keys(self) -> tuple[int, int, int]:
        """The first of its keys and the one behind the last, and the number of all."""
        part = self.key or self.value
        n_key = self.seen.inputs.n_key
        return (0, n_key, n_key) if part is None else (part.start, part.stop, part.n_row)


class Loops:
    """The loops of one thread: over some queries at a time, or over heads."""

    def __init__(
        self,
        sources: Sources,
        parts: RowParts,
        report: Callable[[SeenAttention], None],
        refuse: Callable[[nn.Module, str], None],
    ) -> None:
        self._sources, self._parts, self._report, self._refuse = sources, parts, report, refuse
        self._heads = HeadLoops(sources)
        self._held: list[list[_Chunk]] = []  # loops, of which each part may have one for each head
        self._is_reported = False  # the first of them, which a layer read
        self._is_read = False  # by a layer that reads that one alone
        self._has_returned = False  # the module of those that are held
        self._runs_anew = False  # and it is one of these that ran since
        self._refused: nn.Module | None = None  # whose last loop was
        self._own: _Chunk | None = None  # the last run of torch's own module on a part of a text

    @property
    def wait(self) -> bool:
        """True while something is held."""
        return bool(self._held)

    def end(self) -> None:
        """Report all that is held: something else attended, or the model has run."""
        self._end_chunks()
        self._heads.end()
        self._own = self._refused = None

    def leave(self, module: nn.Module) -> None:
        """Report what is held once the module around its module returns."""
        if not self._held:
            return
        stack = self._held[0][0].stack
        if module is stack[-2:][0]:
            self._end_chunks()
        elif module is stack[-1]:
            self._has_returned = True

    def decide_by(self, read: Tensor) -> None:
        """Report what is held if a layer is about to read it, or more than that."""
        if not self._held:
            return
        outputs = [chunk.seen.output for loop in self._held for chunk in loop]
        n_number = sum(output.numel() for output in outputs)
        if read.numel() < n_number:
            return
        if len(outputs) > 1:
            if all(_is_whole(loop) for loop in self._held):
                self._end_chunks()
        elif not self._is_reported:
            rows = outputs[0].flatten().to(read.dtype)
            self._is_read = read.numel() == n_number and torch.equal(rows, read.flatten())
            if self._is_read or read.numel() > n_number:
                self._forward(self._held[0][0])
                self._is_reported = True

    def add(
        self,
        stack: Stack,
        seen: SeenAttention,
        operands: Operands,
        reads: tuple[Tensor, Tensor] | None,
    ) -> None:
        """Report an attention, or hold it while others may belong to it."""
        query, key, value = (
            None if tensor is None else self._parts.along(tensor, tensor.dim() - 2)
            for tensor in (operands.query, operands.key, operands.value)
        )
        if operands.query is not None:
            if query is not None and not self._is_of_rows(query, operands.query, seen):
                query = None
            query = query or self._some_rows(operands.query, seen)
        elif operands.weights is not None:  # whose rows are those of the queries
            query = self._parts.along(operands.weights, operands.weights.dim() - 2)
        chunk = _Chunk(stack, seen, query, key, value, reads)
        if isinstance(stack[-1], nn.MultiheadAttention):
            self._end_chunks()
            self._forward_own(chunk)
            return
        self._own = None
        if query is None and (key is None or seen.inputs.query is None):
            self._end_chunks()
            self._forward(chunk)
            return
        if all(_is_whole(loop) for loop in self._held):
            self._end_chunks()
        seem_one = len(self._held) == 1 and self._held[0][-1].is_before(chunk)
        for loop in self._held:
            if seem_one or loop[0].goes_on(chunk):
                self._runs_anew |= self._has_returned
                loop.append(chunk.watched())
                return
        if self._held and not self._held[0][-1].is_beside(chunk):
            self._end_chunks()
        self._held.append([chunk.watched()])

    def _forward_own(self, chunk: _Chunk) -> None:
        """Report an attention of torch's own module, refused if it is of some queries of many.

        Each run has layers of its own, so that these are no call together.
        """
        before, self._own = self._own, chunk if chunk.query is not None else None
        if before is not None and before.asks_more(chunk):
            n_taken = int(before.seen.refused is None)
            seen = replace(chunk.seen, refused=RUNS_IN_PARTS, replaces=n_taken)
            chunk = self._own = replace(chunk, seen=seen)
        self._forward(chunk)

    def _is_of_rows(self, part: RowPart, query: Tensor, seen: SeenAttention) -> bool:
        """True if the layer behind queries wrote as many rows: an axis of heads has more."""
        layer = self._layer_behind(query)
        if layer is None:
            return part.count > 1
        is_since = len(part.source) > CUT_ONLY  # the layer ran on the part
        n_row = part.count if is_since else part.n_row
        # or more: of heads, or of texts that are taken one by one
        return math.prod(layer.shape[:-1]) % (seen.inputs.n_batch * n_row) == 0

    def _layer_behind(self, tensor: Tensor) -> ScoreSource | None:
        """The one layer that entered a tensor; None if there are several, or a matrix a head."""
        layers = [source for source in self._sources.entering(tensor) if source.is_learned]
        if len(layers) != 1 or not layers[0].has_learned_columns:
            return None
        (layer,) = layers
        is_product = layer.right.dim() == 3 and layer.right.shape[-1] == layer.shape[-1]
        return None if is_product and not has_one_matrix(layer.right) else layer

    def _some_rows(self, query: Tensor, seen: SeenAttention) -> RowPart | None:
        """A part without a place, if queries are fewer than the rows of the layer behind them."""
        layer, inputs = self._layer_behind(query), seen.inputs
        if layer is None or inputs.n_query == 1:
            return None
        n_row, rest = divmod(math.prod(layer.shape[:-1]), inputs.n_batch)
        if rest or n_row <= inputs.n_query:
            return None
        return RowPart((layer,), n_row, NO_PLACE, NO_PLACE + inputs.n_query, 0)

    def _forward(self, chunk: _Chunk) -> None:
        """Report an attention, as the next head of a loop over heads if it is one."""
        seen = chunk.seen
        is_next = self._heads.is_next(seen.module, seen.inputs.query, chunk.reads)
        self._report(replace(seen, is_next=is_next))

    def _end_chunks(self) -> None:
        held, is_reported, self._held = self._held, self._is_reported, []
        is_read, runs_anew = self._is_read, self._runs_anew
        self._is_reported = self._is_read = self._has_returned = self._runs_anew = False
        for loop in held:
            if len(loop) > 1:
                self._end_loop(loop, is_reported, is_read, runs_anew)
            elif not is_reported:
                self._end_alone(loop[0])
            is_reported = is_read = False

    def _end_alone(self, chunk: _Chunk) -> None:
        """Report one part alone, unless it goes on where a loop was refused."""
        module, part = chunk.seen.module, chunk.query
        if module is self._refused and part is not None and part.start > 0:
            self._refuse(module, QUERIES_IN_PARTS)
        else:
            self._forward(chunk)

    def _end_loop(
        self, loop: list[_Chunk], is_reported: bool, is_read: bool, runs_anew: bool
    ) -> None:
        """Report a loop as one attention; its parts alone or its module, where it is none."""
        self._refused = None
        reason = _why_apart(loop)
        if reason is None and not all(state.holds() for chunk in loop for state in chunk.states):
            reason = OVERWRITTEN
        whole = _joined(loop) if reason is None and not _may_be_texts(loop) else None
        are_steps = loop[0].query is not None and _are_single(loop)
        if whole is not None and not (runs_anew and _begin_elsewhere(loop)):
            apart = _apart(loop, is_read=is_read)
            seen = replace(whole.seen, replaces=int(is_reported), apart=apart)
            self._forward(replace(whole, seen=seen))
        elif runs_anew or _may_be_texts(loop) or are_steps:
            for chunk in loop[is_reported:]:
                self._forward(chunk)
        else:
            first = loop[0].seen
            self._refused = first.module
            if is_reported:
                self._report(replace(first, refused=reason or OTHER_KEYS, replaces=1))
            else:
                self._refuse(first.module, reason or OTHER_KEYS)


def _are_same(before: Tensor | None, now: Tensor | None) -> bool:
    """True for two tensors of the same numbers."""
    return before is not None and now is not None and torch.equal(before, now)


def _is_whole(chunks: Sequence[_Chunk]) -> bool:
    """True if the queries of these chunks are all rows of one tensor, each once."""
    parts = [chunk.query for chunk in chunks if chunk.query is not None]
    places = sorted((part.start, part.stop) for part in parts)
    if len(parts) < len(chunks) or len({part.family for part in parts}) > 1:
        return False
    ends = [0, *(stop for _, stop in places)]
    return [start for start, _ in places] == ends[:-1] and ends[-1] == parts[0].n_row


def _why_apart(chunks: Sequence[_Chunk]) -> str | None:
    """The reason why the queries of these chunks are not all of one tensor; None if they are."""
    if chunks[0].query is None:
        return KEYS_IN_PARTS
    return None if _is_whole(chunks) else QUERIES_IN_PARTS


def _are_single(chunks: Sequence[_Chunk]) -> bool:
    """True for parts of one query each: those that are not all of one tensor are steps of time."""
    return all(chunk.seen.inputs.n_query == 1 for chunk in chunks)


def _may_be_texts(chunks: Sequence[_Chunk]) -> bool:
    """True for rows of a matrix that do not all ask as many rows: it may hold several texts."""
    n_row = 0 if chunks[0].query is None else chunks[0].query.n_row
    is_flat = any(chunk.query is not None and chunk.query.is_flat for chunk in chunks)
    is_one = all(chunk.keys()[2] == n_row for chunk in chunks) and not _begin_elsewhere(chunks)
    return is_flat and not is_one


def _begin_elsewhere(chunks: Sequence[_Chunk]) -> bool:
    """True if some chunk does not see the first key: in runs of their own, these are two texts."""
    return any(chunk.keys()[0] > 0 for chunk in chunks)


def _apart(chunks: Sequence[_Chunk], *, is_read: bool) -> tuple[Stage, ...]:
    """The stages whose layers ran on some of the rows at a time."""
    stages: dict[Stage, list[RowPart | None]] = {
        "q": [chunk.query for chunk in chunks],
        "k": [chunk.key for chunk in chunks],
        "v": [chunk.value for chunk in chunks],
    }
    apart = [
        stage
        for stage, parts in stages.items()
        if any(part is not None and len(part.source) > CUT_ONLY for part in parts)
    ]
    return (*apart, "projected") if is_read else tuple(apart)


def _joined(chunks: Sequence[_Chunk]) -> _Chunk | None:
    """All chunks as one, in the order of their queries; None if their keys are not the same."""
    chunks = sorted(chunks, key=lambda chunk: 0 if chunk.query is None else chunk.query.start)
    parts = [chunk.seen.inputs for chunk in chunks]
    n_keys = {chunk.keys()[2] for chunk in chunks}
    if (_are_single(chunks) and len(n_keys) > 1) or any(
        part is not None and part.n_row < max(n_keys)
        for chunk in chunks
        for part in (chunk.key, chunk.value)
    ):
        return None
    places = [slice(*chunk.keys()[:2]) for chunk in chunks]
    keys = [part.key for part in parts if part.key is not None]
    values = [part.value for part in parts if part.value is not None]
    if len(keys) not in (0, len(parts)) or len(values) < len(parts):
        return None
    sides = [chunk.key for chunk in chunks], [chunk.value for chunk in chunks]
    if any(len({part.family for part in side if part is not None}) > 1 for side in sides):
        return None
    key = _rows_together(keys, places, max(n_keys)) if keys else None
    value = _rows_together(values, places, max(n_keys))
    is_known = value is not None and (key is not None or not keys)
    inputs = _inputs(parts, places, key, value) if is_known else None
    if inputs is None:
        return None
    first = chunks[0]
    kinds = [chunk.seen.kind for chunk in chunks if chunk.seen.kind is not None]
    reads = [chunk.reads for chunk in chunks if chunk.reads is not None]
    output = torch.cat([chunk.seen.output for chunk in chunks], dim=1)
    kind = kinds[0] if kinds else None
    if inputs.query is None:  # scores that show no sides: lengths tell, those of all queries
        kind = None if inputs.n_query == inputs.n_key else kind or "cross"
    seen = replace(first.seen, inputs=inputs, output=output, kind=kind, product=None)
    seen = replace(seen, products=None)  # of the queries of one part
    return replace(first, seen=seen, reads=reads[0] if reads else None)


def _rows_together(parts: Sequence[Tensor], places: Sequence[slice], n_row: int) -> Tensor | None:
    """[batch, head, row, d] of parts that are rows of it; None if they differ or leave some out."""
    if len({(part.shape[:2], part.shape[3]) for part in parts}) > 1:
        return None
    if any(part.shape[2] != at.stop - at.start for part, at in zip(parts, places, strict=True)):
        return None
    largest = max(parts, key=lambda part: part.shape[2])
    whole = largest
    if largest.shape[2] < n_row:
        whole = largest.new_zeros(*largest.shape[:2], n_row, largest.shape[3])
        is_known = torch.zeros(n_row, dtype=torch.bool)
        for part, at in zip(parts, places, strict=True):
            whole[:, :, at] = part
            is_known[at] = True
        if not bool(is_known.all()):
            return None
    pairs = zip(parts, places, strict=True)
    is_same = all(part is whole or torch.equal(part, whole[:, :, at]) for part, at in pairs)
    return whole if is_same else None


def _inputs(
    parts: Sequence[Inputs], places: Sequence[slice], key: Tensor | None, value: Tensor | None
) -> Inputs | None:
    """The inputs of all queries, with the keys that none of a part could see masked for it."""
    assert value is not None, "of every attention that was seen"
    n_key = value.shape[2]
    queries = [part.query for part in parts if part.query is not None]
    query = torch.cat(queries, dim=2) if len(queries) == len(parts) else None
    plain = [part for part in parts if isinstance(part, AttentionInputs)]
    settings = {(part.scaling, part.softcap) for part in plain}
    if any(part.sinks is not None or part.changes for part in plain):
        return None
    if len(plain) < len(parts) or len(settings) > 1 or query is None or key is None:
        if any(part.dtype != torch.float32 for part in parts):
            return None
        kept = [_spread(_weights(p), at, n_key, 0.0) for p, at in zip(parts, places, strict=True)]
        return StoredWeights(torch.cat(kept, dim=2), query, key, value)
    masks_of = [_spread(_visible(p), at, n_key, False) for p, at in zip(plain, places, strict=True)]
    visible = _side_by_side(masks_of)
    is_square = query.shape[2] == n_key > 1
    triangle = masks.causal(query.shape[2], n_key).to(visible.device)
    is_causal = is_square and bool((visible == triangle).all())
    biases = [part.bias for part in plain]
    bias = None
    if any(one is not None for one in biases):
        bias = _side_by_side(
            [_spread(_bias(part), at, n_key, 0.0) for part, at in zip(plain, places, strict=True)]
        )
    return replace(
        plain[0],
        query=query,
        key=key,
        value=value,
        mask=None if is_causal or bool(visible.all()) else visible,
        causal=is_causal,
        bias=bias,
        versions=None,
    )


def _visible(part: AttentionInputs) -> Tensor:
    """True where the queries of a part may attend, [batch or 1, head or 1, query, key]."""
    shape = part.n_query, part.n_key
    visible = torch.ones(1, 1, *shape, dtype=torch.bool, device=part.query.device)
    if part.causal:
        visible = masks.causal(*shape).to(part.query.device)[None, None]
    return visible if part.mask is None else visible & part.mask


def _bias(part: AttentionInputs) -> Tensor:
    """The addend of a part's scores, [batch or 1, head or 1, query, key]."""
    shape = part.n_query, part.n_key
    if part.bias is None:
        return part.query.new_zeros(1, 1, *shape)
    return part.bias.expand(*part.bias.shape[:2], *shape)


def _weights(part: Inputs) -> Tensor:
    """The weights of all heads, [batch, head, query, key]."""
    if isinstance(part, StoredWeights):
        return part.kept
    by_text = (
        torch.stack([part.weights(head, batch) for head in range(part.n_heads)])
        for batch in range(part.n_batch)
    )
    return torch.stack(list(by_text))


def _spread(numbers: Tensor, at: slice, n_key: int, rest: float) -> Tensor:
    """Numbers of some keys over all keys."""
    if numbers.shape[3] == n_key:
        return numbers
    whole = numbers.new_full((*numbers.shape[:3], n_key), rest)
    whole[..., at] = numbers
    return whole


def _side_by_side(parts: Sequence[Tensor]) -> Tensor:
    """All queries of parts that may have one batch row, or one head, for all."""
    n_batch, n_head = (max(part.shape[axis] for part in parts) for axis in (0, 1))
    return torch.cat([part.expand(n_batch, n_head, -1, -1) for part in parts], dim=2)
