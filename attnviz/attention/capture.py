"""All attention calls of one forward pass, with the tokens that went in.

In: recorded calls and tokens. Out: a `Capture`: weights, steps and tables of any head, found by
layer, head, kind and stack, and the comparison of all of them with the model's own numbers.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float32
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.memory import nbytes, tensors
from attnviz.attention.steps import Steps, derive
from attnviz.attention.verification import Verification, joined
from attnviz.errors import BadInput, require_index
from attnviz.summary import counted, html_card, shortened, size
from attnviz.types import Head, HeadId, Kind, ModelKey, Stack, Tokens, head_id


@dataclass(frozen=True)
class MissingCall:
    """An attention module that ran and could not be recorded, with the reason in words."""

    module: str
    reason: str


@dataclass(frozen=True, eq=False)
class Capture:
    """All attention calls of one forward pass, with the tokens that went in.

    `tokens_by_stack` has, for each stack, the tokens of each row of the batch. `hidden` is the
    model's last hidden state [batch, token, d_model]; `logits` its scores, if it has a head for
    them: of a language model [batch, token, vocab], one row for the token that follows each token,
    or only the last rows if all of them would take more than 64 MiB. The last `n_generated` tokens
    were written by the model and fed back to it; `grid` is (rows, columns) of a picture's patches,
    `frame_s` the time between two frames of a sound in seconds. `missing` has the calls that could
    not be recorded.
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
        stacks = [*self.tokens_by_stack, *(call.stack for call in self.calls)]
        if stack is not None and stack not in stacks:
            present = ", ".join(dict.fromkeys(str(name) for name in stacks if name is not None))
            raise BadInput(
                f"there is no stack {stack!r}; this capture has {present or 'a single one: None'}",
                code="bad_argument",
                name="stack",
                found=repr(stack),
                allowed=present or "None",
            )
        return self._tokens_along(stack, batch)

    def query_tokens(self, call: AttentionCall, batch: int = 0) -> Tokens:
        """The tokens along a call's queries; those of a window if the batch is made of windows."""
        require_index("batch", batch, call.n_batch)
        if call.query_places is not None:
            return call.query_places.tokens(batch)
        if call.windows is not None:
            return call.windows.tokens(batch % call.windows.count, call.n_query)
        return self._tokens_along(call.stack, batch)

    def key_tokens(self, call: AttentionCall, batch: int = 0) -> Tokens:
        """The tokens along a call's keys: another stack's in cross-attention.

        That is the encoder's; in a model without one, the stack with as many tokens as keys.
        """
        require_index("batch", batch, call.n_batch)
        if call.key_places is not None:
            return call.key_places.tokens(batch)
        if call.windows is not None:
            return call.windows.tokens(batch % call.windows.count, call.n_key)
        if call.kind != "cross" or "encoder" in self.tokens_by_stack:
            return self._tokens_along("encoder" if call.kind == "cross" else call.stack, batch)
        own, others = call.stack, [stack for stack in self.tokens_by_stack if stack != call.stack]
        fitting = (
            stack for stack in (*others, own) if len(self._tokens_along(stack, batch)) == call.n_key
        )
        return self._tokens_along(next(fitting, own), batch)

    @cached_property
    def n_batch(self) -> int:
        """The number of texts or pictures that went in."""
        return min(
            call.n_batch // (1 if call.windows is None else call.windows.count)
            for call in self.calls
        )

    @cached_property
    def n_layers(self) -> int:
        """The number of layers of the stack that `call` takes unless told otherwise."""
        return 1 + max(call.layer for call in self._calls(self.calls[0].kind, None))

    @property
    def n_heads(self) -> int:
        """The number of heads of the first layer of that stack."""
        return self._calls(self.calls[0].kind, None)[0].n_heads

    def call(
        self,
        layer: int,
        kind: Kind = "self",
        stack: Stack | None = None,
        index: int | None = None,
    ) -> AttentionCall:
        """The call of one layer; `stack` is the first one with attention of this kind unless given.

        A layer may attend several times; then `index` says which call is meant, counted from 0.
        Raises `BadInput` for a layer, kind, stack or index that does not exist, and for a layer
        with several calls without an index.
        """
        among = self._calls(kind, stack)
        in_layer = [call for call in among if call.layer == layer]
        if not in_layer:
            require_index("layer", layer, 1 + max(call.layer for call in among))
        n_call = len(in_layer)
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
        """Every step of one head, named "L5.H11", as a `HeadId` or as (layer, head)."""
        place = head_id(head)
        return derive(self.call(place.layer, kind, stack, index), place.head, batch)

    def weights(
        self,
        layer: int | Head,
        head: int | None = None,
        kind: Kind = "self",
        stack: Stack | None = None,
        batch: int = 0,
        index: int | None = None,
    ) -> Float32[np.ndarray, "... query key"]:
        """Attention weights as numpy: [query, key] of one head, [head, query, key] of a layer.

        The head is given as a layer and a number, or by its name alone: `weights("L5.H11")`.
        """
        if isinstance(layer, str | tuple | HeadId):
            if head is not None:
                raise BadInput(
                    f"weights() was given the head {layer!r} and head={head}; give one of them",
                    code="bad_argument",
                    name="head",
                    found=f"{layer!r}, {head}",
                    allowed="L5.H11",
                )
            place = head_id(layer)
            layer, head = place.layer, place.head
        call = self.call(layer, kind, stack, index)
        array: np.ndarray = call.weights(head, batch).cpu().numpy()
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

    def verify(self) -> Verification:
        """Compare every call with the model's own numbers: max |derived − model's own|."""
        return joined(call.verify() for call in self.calls)

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
        return f"Capture of {model}: {tokens} ({text}); {parts}; {size(self.nbytes)}"

    def _repr_html_(self) -> str:
        rows = [("tokens", str(len(self.tokens)), shortened(" ".join(self.tokens.labels), 200))]
        missing = [("missing", call.module, call.reason) for call in self.missing]
        title = f"Capture of {self.model.id}, {size(self.nbytes)}"
        return html_card(title, (), [*rows, *self._groups(), *missing])

    def _groups(self) -> list[tuple[str, str, str]]:
        """One row for each stack and kind: its name, its layers and heads, its sizes."""
        rows = []
        for kind, stack in dict.fromkeys((call.kind, call.stack) for call in self.calls):
            calls = self._calls(kind, stack)
            n_layer = len({call.layer for call in calls})
            heads, queries, keys = (
                "–".join(map(str, dict.fromkeys((min(sizes), max(sizes)))))
                for sizes in zip(*((c.n_heads, c.n_query, c.n_key) for c in calls), strict=True)
            )
            name = kind if stack is None else f"{stack} {kind}"
            shape = f"{queries} queries × {keys} keys"
            rows.append((name, f"{counted(n_layer, 'layer')} × {heads} heads", shape))
        return rows

    def _calls(self, kind: Kind, stack: Stack | None) -> list[AttentionCall]:
        """The calls of one kind and stack, in the order in which they ran; never empty."""
        of_kind = [call for call in self.calls if call.kind == kind]
        chosen = of_kind[0].stack if stack is None and of_kind else stack
        calls = [call for call in of_kind if call.stack == chosen]
        if not calls:
            present = ", ".join(sorted({f"{call.kind}/{call.stack}" for call in self.calls}))
            raise BadInput(
                f"no {kind!r} attention in stack {stack!r}; this capture has {present}",
                code="bad_kind",
                kind=kind,
                stack=str(stack),
                allowed=present,
            )
        return calls

    def _tokens_along(self, stack: Stack | None, batch: int) -> Tokens:
        """The tokens of one row of a stack; of the first stack if this one has none of its own."""
        rows = self.tokens_by_stack.get(stack)
        if rows is None:
            rows = next(iter(self.tokens_by_stack.values()))
        require_index("batch", batch, len(rows))
        return rows[batch]
