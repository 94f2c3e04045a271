"""A pass frozen into a linear one: a complete split of the answer over the tokens that went in.

Weights, norms' scales and gates are held at what they were; then the answer is linear in the
embeddings. In: a traced run and a number that is linear in the answer. Out: each token's part, with
its sign, and what biases bring: together the model's own number. It says which way a token pulls
along the paths that were taken, not what would happen without it.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.errors import UnsupportedAttention
from attnviz.experiment.dataflow.parts import Walk
from attnviz.experiment.dataflow.rules import Branch, Leaf, Rules, Split, State
from attnviz.experiment.dataflow.trace import Value
from attnviz.experiment.readouts import Linear
from attnviz.experiment.traced_run import TracedRun


@dataclass(frozen=True, eq=False)
class FrozenPass:
    """`tokens` + `biases` + `rest` = `own` but for rounding; `rest` came by unknown operations."""

    tokens: Float64[np.ndarray, " token"]
    biases: float
    rest: float
    own: float

    @property
    def error(self) -> float:
        """|tokens + biases + rest − the model's own number|."""
        return abs(float(self.tokens.sum()) + self.biases + self.rest - self.own)


def frozen_pass(run: TracedRun, answer: Value, linear: Linear) -> FrozenPass:
    """Split a number of the answer over the tokens.

    Raises `UnsupportedAttention` for a layer whose W_V or W_O is not known.
    """
    attention = _Attention(run)
    rules = Rules(
        above_stream=True,
        gates=True,
        through_mlps=True,
        apart=False,
        sources=attention.passed,
    )
    walk = Walk(answer, rules)
    embedded = {id(leaf.source): leaf.tensor for leaf in walk.leaves if leaf.kind == "embedding"}
    with torch.enable_grad():
        leaves = {name: tensor.clone().requires_grad_() for name, tensor in embedded.items()}
        whole = walk.total(lambda leaf: leaves.get(id(leaf.source)))
        slopes = torch.autograd.grad(linear(whole).sum(), list(leaves.values()))
    tokens = torch.zeros(run.calls[0].n_query, dtype=torch.float64)
    for x, slope in zip(leaves.values(), slopes, strict=True):
        by_token = (x.detach() * slope).double().sum(-1)
        tokens += by_token.reshape(-1, by_token.shape[-1]).sum(0)

    def brought(*kinds: str) -> float:
        return float(linear(walk.total(lambda leaf: leaf.tensor if leaf.kind in kinds else None)))

    return FrozenPass(
        tokens=tokens.numpy(),
        biases=brought("bias"),
        rest=brought("other", "linear"),
        own=float(linear(answer.tensor.detach().float())),
    )


class _Attention:
    """The rule that passes attention with its weights frozen: x → Σ_h α_h·(x·W_V,h)·W_O,h."""

    def __init__(self, run: TracedRun) -> None:
        self._run = run

    def passed(self, value: Value) -> Split | None:
        """The split of what a run of W_O wrote; None for any other value."""
        call = self._run.heads_behind(value)
        if call is None:
            return None
        out, v = call.projections["out"], call.projections.get("v")
        if v is None:
            raise UnsupportedAttention(
                f"{call.module}: it is not known which layer writes v, so the tokens behind it"
                " cannot be told apart",
                code="no_projection",
                module=call.module,
                stage="v",
            )
        read = self._run.read_by(call, v.module)
        assert read is not None, "a linear layer reads a tensor"
        weights = call.weights()
        shape = value.tensor.shape

        def through(x: Tensor) -> Tensor:
            written = x.new_zeros(call.n_query, out.weight.shape[1])
            for head in range(call.n_heads):
                columns = v.columns(_kv(call, head), call.output.shape[3])
                rows = out.rows(head, call.output.shape[3])
                mixed = weights[head] @ (x[0] @ v.weight[:, columns].float() * v.factor)
                written = written + mixed @ rows.float()
            return written.reshape(shape)

        leaves = _biases(call, shape, weights)
        return Split((Branch(read, State(), through),), leaves)


def _kv(call: AttentionCall, head: int) -> int:
    return head // (call.n_heads // call.inputs.n_kv_heads)


def _biases(call: AttentionCall, shape: torch.Size, weights: Tensor) -> tuple[Leaf, ...]:
    """b_V through attention and W_O, and b_O."""
    out, v = call.projections["out"], call.projections["v"]
    leaves = []
    if v.bias is not None:
        written = torch.zeros(call.n_query, out.weight.shape[1])
        width = call.output.shape[3]
        for head in range(call.n_heads):
            bias = v.bias[v.columns(_kv(call, head), width)].float() * v.factor
            rows = out.rows(head, width).float()
            written += weights[head].sum(-1, keepdim=True) * (bias @ rows)
        leaves.append(Leaf(f"{v.module}.bias", "bias", written.reshape(shape)))
    if out.bias is not None:
        leaves.append(Leaf(f"{out.module}.bias", "bias", out.bias.float().expand(shape)))
    return tuple(leaves)
