"""The share of each token in each position's state, layer by layer and rolled out.

In: the calls of one pass of a stack of self-attention, with the residual beside each. Out: shares
[query, token] whose rows sum to 1. With f(x) = (x·W_V + b_V)·W_O, the residual x and a norm behind
the sum, where there is one,

    T(q, k) = Σ_h α_h(q, k)·f_h(x_k) + [q = k]·x_q
    norms     ‖T‖₂ ÷ Σ_k ‖T‖₂                         Kobayashi et al. 2021, EMNLP
    alti      max(0, ‖y‖₁ − ‖y − T‖₁), rows to 1      Ferrando et al. 2022, y = Σ_k T
    rollout   ½·mean over heads of α + ½·I            Abnar & Zuidema 2020: history, see the guide
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.errors import TooLarge, UnsupportedAttention
from attnviz.experiment.dataflow import operations as ops
from attnviz.experiment.dataflow.operations import aten
from attnviz.experiment.dataflow.trace import Operation, Value
from attnviz.experiment.traced_run import TracedRun
from attnviz.metrics.through_layers import Shares, rolled_out, with_residual

MAX_BYTES = 2**30


def rollout(run: TracedRun) -> Shares:
    """Attention rollout: half of the mean weights, half the residual, layer after layer."""
    means = [call.weights().mean(0).double().cpu().numpy() for call in run.calls]
    return rolled_out([with_residual(mean) for mean in means])


def norm_and_alti(run: TracedRun) -> tuple[Shares, Shares]:
    """(norms, ALTI), both rolled out.

    Raises `UnsupportedAttention` where W_O or the residual of a layer was not found, `TooLarge` for
    a text whose vectors T would take more than 1 GiB.
    """
    norms, alti = [], []
    beside = _beside(run)
    for call in run.calls:
        if call.module not in beside:
            raise UnsupportedAttention(
                f"attnviz did not find the residual stream to which the output of {call.module} is"
                " added, so the share of each token is not known",
                code="no_residual",
                module=call.module,
            )
        brought, whole = _vectors(call, *beside[call.module])
        norms.append(_rows_to_1(brought.norm(dim=-1)))
        near = whole.abs().sum(-1)[:, None] - (whole[:, None] - brought).abs().sum(-1)
        alti.append(_rows_to_1(near.clamp(min=0)))
    return rolled_out(norms), rolled_out(alti)


def _rows_to_1(sizes: Float[Tensor, "query token"]) -> Shares:
    shares: np.ndarray = (sizes / sizes.sum(-1, keepdim=True).clamp(min=1e-12)).double().numpy()
    return shares


def _vectors(
    call: AttentionCall, residual: Tensor, norm: Operation | None, summed: Value
) -> tuple[Float[Tensor, "query token d_model"], Float[Tensor, "query d_model"]]:
    """(T, y): what each token brings to each query behind attention, residual and norm."""
    layer = call.projections["out"]
    n, d_model = call.n_query, layer.output.shape[-1]
    if 4 * n * n * d_model > MAX_BYTES:
        raise TooLarge(
            f"{n} tokens of {d_model} numbers each need {4 * n * n * d_model >> 20} MiB of vectors;"
            " take a shorter text",
            code="too_many_vectors",
            found=4 * n * n * d_model >> 20,
            limit=MAX_BYTES >> 20,
            unit="MiB",
        )
    brought = torch.zeros(n, n, d_model)
    for head in range(call.n_heads):
        stages = call.stages(head)
        rows = layer.rows(head, call.output.shape[3])
        brought += stages["weights"][:, :, None] * (stages["v"] @ rows.float())[None]
    brought[torch.arange(n), torch.arange(n)] += residual[0].float()
    whole = summed.tensor.detach()[0].float()
    if norm is not None:
        weight, eps = norm.args[2].detach().float(), norm.args[4]
        scale = (whole.var(-1, unbiased=False, keepdim=True) + eps).rsqrt()
        brought = (brought - brought.mean(-1, keepdim=True)) * scale[:, None] * weight
        whole = norm.outputs[0].tensor.detach()[0].float()
    return brought, whole


def _beside(run: TracedRun) -> dict[str, tuple[Tensor, Operation | None, Value]]:
    """By module: the residual, the norm behind the sum where nothing else reads it, and the sum."""
    readers: dict[int, list[Operation]] = {}
    for operation in run.trace.operations:
        for value in operation.inputs.values():
            readers.setdefault(id(value), []).append(operation)
    residuals = {}
    for operation in run.trace.operations:
        call = run.written_by(operation)
        joined = None if call is None else _sum_behind(operation.outputs[0], readers)
        if call is None or joined is None:
            continue
        add, written = joined
        terms = [add.value(term) for term in add.args[:2] if isinstance(term, Tensor)]
        residual = next(term for term in terms if term is not written)
        behind = readers.get(id(add.outputs[0]), [])
        norms = [reader for reader in behind if reader.packet is aten.native_layer_norm]
        only_norm = norms[0] if norms and len(norms) == len(behind) else None
        residuals[call.module] = residual.tensor, only_norm, add.outputs[0]
    return residuals


def _sum_behind(
    value: Value, readers: dict[int, list[Operation]]
) -> tuple[Operation, Value] | None:
    """The sum that a value goes into, past views, and the value as it goes in."""
    while True:
        behind = readers.get(id(value), [])
        add = next((reader for reader in behind if reader.packet in ops.ADDS), None)
        if add is not None:
            return add, value
        move = next((reader for reader in behind if reader.packet in ops.MOVES), None)
        if move is None:
            return None
        value = move.outputs[0]
