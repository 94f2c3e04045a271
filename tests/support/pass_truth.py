"""The truth about a pass: copies of what PyTorch's functions read and wrote, beside a capture.

In: a model that runs while `Truth.watching`, and its capture. Out: what of the capture differs.
`scaled_dot_product_attention`, `linear` and `addmm` are watched; nothing of the recorder is used.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.projection import WrittenLayer

WEIGHT_TOLERANCE, OUTPUT_TOLERANCE, COARSE = 1e-5, 2e-5, 3e-2


@dataclass(frozen=True)
class SeenAttention:
    """Copies of what one call of `scaled_dot_product_attention` was given, and of its result."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    causal: bool
    scaling: float | None
    output: Tensor

    def weights(self, batch: int) -> Tensor:
        """The weights [head, query, key] of one text, written anew."""
        query, key = self.query[batch].float(), self.key[batch].float()
        key = key.repeat_interleave(len(query) // len(key), 0)
        scale = query.shape[-1] ** -0.5 if self.scaling is None else self.scaling
        scores = torch.einsum("hqd,hkd->hqk", query, key) * scale
        if self.causal:
            scores = scores.masked_fill(
                ~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf
            )
        if self.mask is not None:
            shape = len(self.query), *scores.shape
            mask = self.mask.expand(shape)[batch]
            is_binary = mask.dtype == torch.bool
            scores = scores.masked_fill(~mask, -torch.inf) if is_binary else scores + mask.float()
        return torch.softmax(scores, -1).nan_to_num()


@dataclass(frozen=True)
class SeenLayer:
    """Copies of what a linear layer read, of its weight [d_in, d_out] and of what it wrote."""

    read: Tensor
    weight: Tensor
    wrote: Tensor


@dataclass
class Truth:
    """What PyTorch's functions saw; `live` has their own tensors, by parameter, if asked for."""

    keeps_tensors: bool = False
    attentions: list[SeenAttention] = field(default_factory=list)
    layers: list[SeenLayer] = field(default_factory=list)
    live: list[tuple[Tensor | None, dict[str, Tensor]]] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note each call of the three functions."""
        attend, linear = functional.scaled_dot_product_attention, functional.linear
        addmm = torch.addmm

        def attention(
            query: Tensor,
            key: Tensor,
            value: Tensor,
            attn_mask: Tensor | None = None,
            dropout_p: float = 0.0,
            is_causal: bool = False,
            scale: float | None = None,
            **more: Any,
        ) -> Tensor:
            output = attend(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, **more)
            q, k, v, mixed = (_copy(tensor) for tensor in (query, key, value, output))
            mask = None if attn_mask is None else _copy(attn_mask)
            self.attentions.append(SeenAttention(q, k, v, mask, is_causal, scale, mixed))
            self._keep(None, mixed=output)
            return output

        def layer(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
            wrote = linear(x, weight, bias)
            self._add(weight, weight.T, x, wrote)
            return wrote

        def product(bias: Tensor, x: Tensor, weight: Tensor, **more: Any) -> Tensor:
            wrote = addmm(bias, x, weight, **more)
            self._add(weight, weight, x, wrote)
            return wrote

        with (
            patch.object(functional, "scaled_dot_product_attention", attention),
            patch.object(functional, "linear", layer),
            patch.object(torch, "addmm", product),
        ):
            yield

    def _add(self, parameter: Tensor, weight: Tensor, read: Tensor, wrote: Tensor) -> None:
        x, y = (_copy(rows.flatten(0, -2)) for rows in (read, wrote))
        self.layers.append(SeenLayer(x, _copy(weight), y))
        self._keep(parameter, read=read, wrote=wrote)

    def _keep(self, parameter: Tensor | None, **tensors: Tensor) -> None:
        if self.keeps_tensors:
            self.live.append((parameter, tensors))


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().clone()


def faults(cap: Capture, truth: Truth, tokens: Tensor) -> Iterator[str]:
    """What of a capture and of the tokens of its first text differs from the truth, in words."""
    labels = [str(int(number)) for number in tokens]
    if list(cap.tokens.labels) != labels:
        yield f"tokens {cap.tokens.labels}"
    if not cap.calls and not cap.missing:
        yield "no calls"
    seen = truth.attentions if cap.missing else truth.attentions[-len(cap.calls) :]
    for place, call in enumerate(cap.calls):
        with torch.autocast("cpu", enabled=False):
            own = seen if cap.missing else seen[place : place + 1]
            differences = [list(_faults_of_call(call, attention)) for attention in own]
        yield from min(differences, key=len, default=["an attention that never was"])
        yield from _faults_of_layers(call, truth.layers)


def _faults_of_call(call: AttentionCall, seen: SeenAttention) -> Iterator[str]:
    n_batch, n_heads = seen.query.shape[:2]
    if (call.n_batch, call.n_heads) != (n_batch, n_heads):
        yield f"{call.name}: {call.n_batch} texts, {call.n_heads} heads"
        return
    for batch in range(n_batch):
        expected, ours = seen.weights(batch), call.weights(batch=batch)
        alone = call.weights(n_heads - 1, batch)
        sees_keys = expected.sum(-1) > 0.5
        for name, theirs, weights, rows in (
            ("weights", expected, ours, sees_keys),
            ("weights of one head", expected[-1], alone, sees_keys[-1]),
        ):
            if weights.dtype != torch.float32 or _differ(weights[rows], theirs[rows]):
                yield f"{call.name}: {name} of text {batch}"
    mixed = seen.output.transpose(1, 2)
    is_coarse = torch.finfo(mixed.dtype).eps > torch.finfo(torch.float32).eps
    tolerance = COARSE if is_coarse else OUTPUT_TOLERANCE
    if mixed.shape == call.output.shape and _differ(call.output, mixed, tolerance):
        yield f"{call.name}: output"
    for part in ("query", "key", "value"):
        ours, theirs = getattr(call.inputs, part, None), getattr(seen, part)
        if ours is not None and ours.shape == theirs.shape and not torch.equal(ours, theirs):
            yield f"{call.name}: {part}"


def _differ(ours: Tensor, theirs: Tensor, tolerance: float = WEIGHT_TOLERANCE) -> bool:
    size = max(1.0, float(theirs.abs().max())) if theirs.numel() else 1.0
    return not torch.allclose(ours.float(), theirs.float(), rtol=0, atol=tolerance * size)


def _faults_of_layers(call: AttentionCall, seen: list[SeenLayer]) -> Iterator[str]:
    """Layers that show what no linear layer read, used or wrote."""
    for name, projection in call.projections.items():
        if not isinstance(projection.layer, WrittenLayer):
            continue
        matching = seen
        for part, ours in (
            ("read", projection.input.flatten(0, -2)),
            ("weight", projection.weight),
            ("wrote", projection.output.flatten(0, -2)),
        ):
            matching = [layer for layer in matching if torch.equal(getattr(layer, part), ours)]
            if not matching:
                yield f"{call.name}: what {name} {part}"
                break
