"""All attention calls of one forward pass, with the tokens that went in.

In: recorded calls and tokens. Out: a `Capture`: weights, steps and tables of any head, found by
layer, head, kind and stack, and the comparison of all of them with the model's own numbers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import SupportsIndex

import numpy as np
from jaxtyping import Float32, Float64
from torch import Tensor

from attnviz.attention import axis_tokens
from attnviz.attention.call import AttentionCall
from attnviz.attention.memory import nbytes, tensors
from attnviz.attention.steps import Steps, derive
from attnviz.attention.verification import Verification, joined
from attnviz.errors import BadInput, bad_argument, bad_kind, require_index
from attnviz.lazy import FilledLater
from attnviz.metrics.layer_weights import LayerWeights
from attnviz.metrics.table import HeadTable, head_table
from attnviz.metrics.table import by_text as join_texts
from attnviz.metrics.through_layers import flow, rolled_out, with_residual
from attnviz.summary import counted, html_card, shortened, size
from attnviz.types import (
    MEASURES,
    Head,
    HeadId,
    Kind,
    Measure,
    ModelKey,
    Site,
    Stack,
    Tokens,
    head_id,
)

NOT_KEPT = "it is not among the layers of keep="
_NUMBER = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class MissingCall:
    """An attention module that ran and could not be recorded, with the reason in words."""

    module: str
    reason: str


@dataclass(frozen=True, eq=False)
class Capture(FilledLater):
    """All attention calls of one forward pass, with the tokens that went in.

    `tokens_by_stack` has, for each stack, the tokens of each row of the batch. `hidden` is the
    model's last hidden state [batch, token, d_model]; `logits` its scores, if it has a head for
    them: of a language model [batch, token, vocab], one row for the token that follows each token,
    or only the last rows if all of them would take more than 64 MiB. The last `n_generated` tokens
    were written by the model and fed back to it: of N that it wrote N − 1, since it never reads the
    last one; `grid` is (rows, columns) of a picture's patches, `frame_s` the time between two
    frames of a sound in seconds. `missing` has the calls that could not be recorded.
    """

    model: ModelKey
    calls: tuple[AttentionCall, ...]
    tokens_by_stack: dict[Stack | None, tuple[Tokens, ...]]
    n_generated: int = 0
    grid: tuple[int, int] | None = None
    frame_s: float | None = None
    hidden: Tensor | None = None
    logits: Tensor | None = None
    missing: tuple[MissingCall, ...] = ()

    @property
    def tokens(self) -> Tokens:
        """The tokens of the first text, in the first stack."""
        return self.tokens_of()

    def tokens_of(self, batch: int = 0, stack: Stack | None = None) -> Tokens:
        """The tokens of one row of the batch, padding included; None is the first stack.

        Raises `BadInput` for a row or a stack that does not exist.
        """
        present = [*self.tokens_by_stack, *(call.stack for call in self.calls)]
        axis_tokens.require_stack(stack, present)
        return axis_tokens.stack_tokens(self.tokens_by_stack, stack, batch)

    def query_tokens(self, call: AttentionCall, batch: int = 0) -> Tokens:
        """The tokens along a call's queries; those of a window if the batch is made of windows."""
        return axis_tokens.query_tokens(self.tokens_by_stack, call, batch)

    def key_tokens(self, call: AttentionCall, batch: int = 0) -> Tokens:
        """The tokens along a call's keys: another stack's in cross-attention.

        That is the encoder's; in a model without one, the stack with as many tokens as keys.
        """
        return axis_tokens.key_tokens(self.tokens_by_stack, call, batch)

    @cached_property
    def n_batch(self) -> int:
        """The number of texts or pictures that went in."""
        return min(call.n_batch // _rows_per_picture(call) for call in self.calls)

    @cached_property
    def n_layers(self) -> int:
        """The number of layers of the first stack, the one that `call` takes by default."""
        return 1 + max(call.layer for call in self._calls(self.calls[0].kind, None))

    def call(
        self,
        layer: SupportsIndex,
        kind: Kind = "self",
        stack: Stack | None = None,
        index: int | None = None,
    ) -> AttentionCall:
        """The call of one layer; `stack` is the first one with attention of this kind by default.

        A layer may attend several times; then `index` chooses a call, counted from 0. Raises
        `BadInput` for a layer, kind, stack or index that does not exist, and for a layer with
        several calls if there is no index.
        """
        among = self._calls(kind, stack)
        layer = require_index("layer", layer, 1 + max(call.layer for call in among))
        in_layer = [call for call in among if call.layer == layer]
        n_call = len(in_layer)
        if not n_call:
            present = ", ".join(map(str, sorted({call.layer for call in among})))
            raise BadInput(
                f"layer {layer} of {kind!r} attention is not in this capture, which has {present}",
                code="several_calls",
                layer=layer,
                count=0,
            )
        if n_call != 1 if index is None else not 0 <= index < n_call:
            choice = f"; name one by index=0 to {n_call - 1}" if n_call > 1 else ""
            raise BadInput(
                f"layer {layer} has {counted(n_call, 'recorded call')} of {kind!r} attention, and"
                f" index={index} was given{choice}",
                code="several_calls",
                layer=layer,
                count=n_call,
            )
        return in_layer[index or 0]

    def head(
        self,
        head: Head,
        kind: Kind = "self",
        stack: Stack | None = None,
        index: int | None = None,
        batch: int = 0,
    ) -> Steps:
        """Every step of one head, named "L5.H11", as a `HeadId` or as (layer, head).

        A name may say the kind and the stack too: "cross.L1.H0", "decoder.cross.L1.H0".
        """
        place, kind, stack = _named(head, kind, stack)
        return derive(self.call(place.layer, kind, stack, index), place.head, batch)

    def weights(
        self,
        layer: SupportsIndex | Head,
        head: SupportsIndex | None = None,
        kind: Kind = "self",
        stack: Stack | None = None,
        batch: int = 0,
        index: int | None = None,
    ) -> Float32[np.ndarray, "... query key"]:
        """Attention weights as numpy: [query, key] of one head, [head, query, key] of a layer.

        The head is given as a layer and a number, or by its name alone: `weights("L5.H11")`,
        `weights("cross.L1.H0")`.
        """
        if isinstance(layer, str | tuple | HeadId):
            if head is not None:
                raise bad_argument(
                    f"weights() was given the head {layer!r} and head={head}; give one of them",
                    name="head",
                    found=f"{layer!r}, {head}",
                    allowed="L5.H11",
                )
            place, kind, stack = _named(layer, kind, stack)
            layer, head = place.layer, place.head
        call = self.call(layer, kind, stack, index)
        number = None if head is None else require_index("head", head, call.n_heads)
        array: np.ndarray = call.weights(number, batch).cpu().numpy()
        return array

    def all_weights(
        self, batch: int = 0, kind: Kind = "self", stack: Stack | None = None
    ) -> Float32[np.ndarray, "layer head query key"]:
        """Attention weights of every recorded layer and head of one stack.

        Raises `BadInput` if the layers differ in heads, queries or keys.
        """
        layers = sorted({call.layer for call in self._calls(kind, stack)})
        calls = [self.call(layer, kind, stack) for layer in layers]
        shapes = sorted({(call.n_heads, call.n_query, call.n_key) for call in calls})
        if len(shapes) > 1:
            raise BadInput(
                f"the layers differ in shape [heads, queries, keys]: {shapes}; take the layers one"
                " by one with weights(layer)",
                code="uneven_layers",
            )
        array = np.empty((len(calls), *shapes[0]), dtype=np.float32)
        for place, call in enumerate(calls):
            array[place] = call.weights(None, batch).cpu().numpy()
        return array

    def layer_weights(
        self, batch: int | None = 0, kind: Kind | None = "self", stack: Stack | None = None
    ) -> Iterator[LayerWeights]:
        """The weights of every layer with its tokens and mask, one call after another.

        `batch` is a text or picture, None for each in turn; a picture gives its windows one by one.
        With `kind` None come all kinds, of one stack or, with `stack` None, of all.
        """
        calls = self.calls if kind is None and stack is None else self._calls(kind, stack)
        for call in calls:
            alike = [c for c in calls if (c.kind, c.stack) == (call.kind, call.stack)]
            index = [c for c in alike if c.layer == call.layer].index(call)
            for row in self._rows(call, batch):
                yield self._layer_weights(call, index, row)

    def table(
        self,
        measures: Sequence[Measure] | Measure = MEASURES,
        *,
        kind: Kind | None = None,
        stack: Stack | None = None,
        batch: int | None = None,
        by_text: bool = False,
    ) -> HeadTable:
        """One row for each head with its measures: the mean over all texts, or of one of them.

        With `by_text` one row for each text and head, and a column `text`. Raises `BadInput` for a
        measure, kind, stack or text that does not exist.
        """
        if by_text:
            texts = range(self.n_batch) if batch is None else (batch,)
            return join_texts(
                [self.table(measures, kind=kind, stack=stack, batch=text) for text in texts]
            )
        return head_table(self.layer_weights(batch, kind, stack), measures)

    def rollout(
        self, batch: int = 0, stack: Stack | None = None
    ) -> Float64[np.ndarray, "query token"]:
        """Attention rollout: the layers' mean weights, with the residual, multiplied.

        Rows sum to 1. Half of each layer is the residual (Abnar & Zuidema 2020). It knows nothing
        of values: `attnviz.experiment(lm, text, on=…).tokens()` has it beside the change where
        each token is hidden.
        """
        return rolled_out(self._halved(batch, stack))

    def flow(
        self, query: int = -1, batch: int = 0, stack: Stack | None = None
    ) -> Float64[np.ndarray, " token"]:
        """Attention flow: the most that can go from each token to one query, through all layers.

        The largest flow where an edge carries at most its weight, as in `rollout`. The query is
        counted in the last layer, −1 for the last token. It takes seconds for 64 tokens.
        """
        layers = self._halved(batch, stack)
        n = len(layers[0])
        return flow(layers, query + n if -n <= query < 0 else query)

    def n_layers_of(self, kind: Kind, stack: Stack | None) -> int:
        """The number of layers of a kind and stack, with those that were not kept (`keep=`)."""
        calls = self._calls(kind, stack)
        kept = {call.layer for call in calls}
        stems = {_NUMBER.sub("", call.module) for call in calls}
        left_out = [call.module for call in self.missing if call.reason == NOT_KEPT]
        n_left_out = sum(_NUMBER.sub("", module) in stems for module in left_out)
        return max(1 + max(kept), len(kept) + n_left_out)

    def require_all_heads(self) -> None:
        """Raise `BadInput` for a capture that keeps some layers or heads only (`keep=`)."""
        for kind, stack in dict.fromkeys((call.kind, call.stack) for call in self.calls):
            kept = sorted({call.layer for call in self._calls(kind, stack)})
            if self.n_layers_of(kind, stack) > len(kept):
                layers = ", ".join(map(str, kept))
                raise BadInput(
                    f"this capture keeps the layers {layers} alone, and this needs all: capture"
                    " again without keep=, or take weights(), head() and table() of it",
                    code="layers_left_out",
                    layers=layers,
                )
        for call in self.calls:
            call.require_all_heads()

    def _halved(self, batch: int, stack: Stack | None) -> list[Float64[np.ndarray, "query token"]]:
        self.require_all_heads()
        means = [one.weights.mean(0) for one in self.layer_weights(batch, "self", stack)]
        return [with_residual(mean.astype(np.float64)) for mean in means]

    def verify(self) -> Verification:
        """Compare every call with the model's own numbers: max |derived − model's own|."""
        missing = tuple(call.module for call in self.missing)
        return joined((call.verify() for call in self.calls), missing)

    @cached_property
    def nbytes(self) -> int:
        """Bytes that the capture keeps in memory; storage shared by tensors is counted once."""
        kept = [tensor for call in self.calls for tensor in tensors(call)]
        return nbytes(kept + [part for part in (self.hidden, self.logits) if part is not None])

    def __repr__(self) -> str:
        tokens = counted(len(self.tokens), "token")
        text = shortened(" ".join(self.tokens.labels))
        parts = ", ".join(" ".join(row[:2]) for row in self._groups())
        model = shortened(self.model.id)
        missing = f"; {len(self.missing)} not recorded" if self.missing else ""
        return f"Capture of {model}: {tokens} ({text}); {parts}{missing}; {size(self.nbytes)}"

    def _repr_html_(self) -> str:
        rows = [("tokens", str(len(self.tokens)), " ".join(self.tokens.labels))]
        missing = [("missing", call.module, call.reason) for call in self.missing]
        title = f"Capture of {self.model.id}, {size(self.nbytes)}"
        return html_card(title, (), [*rows, *self._groups(), *missing])

    def _groups(self) -> list[tuple[str, str, str]]:
        """One row for each stack and kind: its name, its layers and heads, its sizes."""
        rows = []
        for kind, stack in dict.fromkeys((call.kind, call.stack) for call in self.calls):
            calls = self._calls(kind, stack)
            sizes = zip(*((c.n_heads, c.n_query, c.n_key) for c in calls), strict=True)
            heads, queries, keys = map(_range, sizes)
            if any(call.inputs.only for call in calls):
                heads = f"{_range([len(call.kept_heads) for call in calls])} of {heads}"
            layers = counted(len({call.layer for call in calls}), "layer")
            name = kind if stack is None else f"{stack} {kind}"
            rows.append((name, f"{layers} × {heads} heads", f"{queries} queries × {keys} keys"))
        return rows

    def _calls(self, kind: Kind | None, stack: Stack | None) -> list[AttentionCall]:
        """The calls of one kind (None: all) and stack (None: the first), in order; never empty."""
        of_kind = [call for call in self.calls if kind in (None, call.kind)]
        chosen = of_kind[0].stack if stack is None and of_kind else stack
        calls = [call for call in of_kind if call.stack == chosen]
        if not calls:
            raise bad_kind(kind, stack, ((call.kind, call.stack) for call in self.calls))
        return calls

    def _layer_weights(self, call: AttentionCall, index: int, row: int) -> LayerWeights:
        queries, keys = self.query_tokens(call, row), self.key_tokens(call, row)
        apart = call.kind == "cross" or call.n_query != call.n_key
        return LayerWeights(
            stack=call.stack,
            kind=call.kind,
            layer=call.layer,
            index=index,
            weights=call.kept_weights(row).cpu().numpy(),
            queries=axis_tokens.fitting(queries, call.n_query),
            keys=axis_tokens.fitting(keys, call.n_key) if apart else None,
            visible=call.visible(row).cpu().numpy(),
            heads=None if call.inputs.only is None else tuple(call.kept_heads),
        )

    def _rows(self, call: AttentionCall, batch: int | None) -> range:
        """The rows of a call's batch that belong to one text or picture, or to all of them."""
        if batch is None:
            return range(call.n_batch)
        require_index("batch", batch, self.n_batch)
        n_row = _rows_per_picture(call)
        return range(batch * n_row, (batch + 1) * n_row)


def _named(head: Head, kind: Kind, stack: Stack | None) -> tuple[HeadId, Kind, Stack | None]:
    """A head with its kind and stack; what its name says of them goes before the default."""
    site = Site.parse(head) if isinstance(head, str) else None
    if site is None or site.head is None:
        return head_id(head), kind, stack
    own = site.stack
    if stack is not None and own not in (None, stack):
        raise bad_argument(
            f"the head is {head} and stack={stack!r} was given; give one of both",
            name="stack",
            found=stack,
            allowed=str(own),
        )
    return HeadId(site.layer, site.head), "cross" if site.kind == "cross" else kind, own or stack


def _rows_per_picture(call: AttentionCall) -> int:
    """The number of rows of the batch that one text or picture has: its windows."""
    return 1 if call.windows is None else call.windows.count


def _range(numbers: Sequence[int]) -> str:
    """The numbers from the smallest to the largest.

    >>> _range((3, 6)), _range((4, 4))
    ('3–6', '4')
    """
    return "–".join(map(str, dict.fromkeys((min(numbers), max(numbers)))))
