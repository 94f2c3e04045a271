"""A pass in which every edge of the residual stream is a switch.

In: a traced pass of a model whose layers each read the stream, and add to it what they wrote. Out:
an `Edgewise`: every head's q, k and v, every MLP and the answer read their own sum of writers,

    x_r = Σ_s on[r, s] · written_s(this run) + (1 − on[r, s]) · written_s(other run)  + biases

so that an edge that is off comes from a run of another text (Elhage et al. 2021; Wang et al. 2022).
With all edges on it is the model itself, which is compared each time, on both texts. What lies
between a state of the stream and q, k, v, an MLP's output or the answer are the model's own
operations, run again on the new state; attention is computed from q, k and v. Heads that share keys
share their reads of k and v.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.errors import UnsupportedAttention
from attnviz.experiment.components import Naming, site_of
from attnviz.experiment.dataflow.operations import aten
from attnviz.experiment.dataflow.stream import replay, replay_all, start_of, states, writer_of
from attnviz.experiment.dataflow.trace import Value
from attnviz.experiment.paths import SIDES, FedSide, by_head, patterns
from attnviz.experiment.traced_run import TracedRun

EMBEDDINGS, ANSWER = "embeddings", "answer"
PASS_BYTES = 2**28  # of what all writers wrote, in the rows of one pass


@dataclass(frozen=True)
class Receiver:
    """A reader of the stream: a head's q, k or v, an MLP, or the answer; prints as "L2.H1.k"."""

    name: str
    side: FedSide | None
    n_sender: int

    def __str__(self) -> str:
        return self.name if self.side is None else f"{self.name}.{self.side}"


@dataclass(frozen=True, eq=False)
class Step:
    """One sum of the stream: the `state` that was read, and the summand that was `written`.

    `constant` is what an attention wrote beside its heads, b_O. `call` is None of an MLP.
    """

    state: Value
    written: Value
    call: AttentionCall | None
    constant: Tensor


@dataclass(frozen=True, eq=False)
class Edgewise:
    """The stream of one pass as switches; `senders` and `receivers` are in the order of the pass.

    A receiver reads the first `n_sender` senders. `end` is the state that the answer reads.
    """

    run: TracedRun
    start: Value
    steps: tuple[Step, ...]
    end: Value
    answer: Value
    senders: tuple[str, ...]
    receivers: tuple[Receiver, ...]

    @property
    def allowed(self) -> Bool[Tensor, "receiver sender"]:
        """True for every edge that there is."""
        counts = torch.tensor([receiver.n_sender for receiver in self.receivers])
        return torch.arange(len(self.senders)) < counts[:, None]

    @property
    def rows(self) -> int:
        """The rows of one pass, so that it fits into memory."""
        return max(1, min(64, PASS_BYTES // (4 * len(self.senders) * self.start.tensor.numel())))

    def forward(
        self,
        start: Float[Tensor, "row token d_model"],
        on: Bool[Tensor, "row receiver sender"] | None = None,
        other: Float[Tensor, "sender token d_model"] | None = None,
    ) -> tuple[Tensor, Float[Tensor, "row sender token d_model"]]:
        """(the answer's tensor of each row, what every sender wrote), from given embeddings.

        Without `on` every edge is.
        """
        written, constant, first = [start], torch.zeros_like(start[0]), 0

        def read(count: int) -> Float[Tensor, "row read token d_model"]:
            nonlocal first
            some, own = slice(first, first + count), torch.stack(written, dim=1)
            first += count
            x = (own.sum(1) + constant)[:, None].expand(-1, count, -1, -1)
            if on is not None and other is not None:
                off = 1.0 - on[:, some, : len(written)].float()
                x = x + torch.einsum("nrs,nstd->nrtd", off, other[: len(written)] - own)
            return x

        for step in self.steps:
            if step.call is None:
                written.append(self._replayed(step.state, step.written, read(1))[:, 0])
                continue
            heads = self._attended(step, step.call, read)
            written += heads.unbind(1)
            constant = constant + step.constant
        answer = self._replayed(self.end, self.answer, read(1))[:, 0]
        return answer, torch.stack(written, dim=1)

    def slopes(
        self, start: Float[Tensor, "1 token d_model"], number: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "receiver token d_model"]:
        """The gradient of a number of the answer by what every receiver reads, all edges on.

        The receivers of a layer read one and the same stream: one pass forward and one back are
        enough, but for the last step from the q, k and v of each head alone back to its read.
        """
        trace, stream = self.run.trace, start
        reads: list[Tensor] = []  # nothing that is added to what each step reads
        ends: list[tuple[Tensor, ...]] = []  # q, k and v of an attention; else the read itself
        for step in (*self.steps, None):
            reads.append(torch.zeros_like(start, requires_grad=True))
            ends.append((reads[-1],))
            state = self.end if step is None else step.state
            x = (stream + reads[-1]).reshape(state.tensor.shape)
            if step is None:
                answer = replay(trace, state, x, self.answer)
            elif step.call is None:
                stream = stream + replay(trace, state, x, step.written).reshape(start.shape)
            else:
                known = _stages(step.call)
                found = replay_all(trace, state, x, [self._made(stage) for stage in known])
                q, k, v = (new.reshape(s.shape) for new, s in zip(found, known, strict=True))
                stream = stream + _written(step.call, q, k, v).sum(1) + step.constant
                ends[-1] = q, k, v
        flat = [end for some in ends for end in some]
        slopes = iter(torch.autograd.grad(number(answer), flat, retain_graph=True))
        return torch.cat(
            [
                next(slopes) if len(some) == 1 else _by_head(read, some, [*islice(slopes, 3)])
                for read, some in zip(reads, ends, strict=True)
            ]
        )

    def _made(self, stage: Tensor) -> Value:
        """q, k or v as the pass made it, not the copy detached from it: gradients pass it."""
        value = self.run.trace.value(stage)
        while value.made_by is not None and value.made_by.packet in (aten.detach, aten.alias):
            value = value.made_by.value(value.made_by.args[0])
        return value

    def _attended(self, step: Step, call: AttentionCall, read: object) -> Tensor:
        """The output of each head, [row, head, token, d_model]."""
        assert callable(read)
        stages = (self._own_head(step.state, s, read(s.shape[1])) for s in _stages(call))
        return _written(call, *stages)

    def _own_head(self, state: Value, stage: Tensor, x: Tensor) -> Tensor:
        """q, k or v where head h is computed from its own read x[:, h]; [row, head, token, d]."""
        heads = self._replayed(state, self._made(stage), x)
        own = torch.arange(stage.shape[1])
        return heads.reshape(*x.shape[:2], *stage.shape[1:])[:, own, own]

    def _replayed(
        self, state: Value, end: Value, x: Float[Tensor, "row read token d_model"]
    ) -> Tensor:
        """`end` computed by the model's operations from each read of the stream."""
        flat = x.reshape(-1, *state.tensor.shape)
        trace = self.run.trace
        new = torch.func.vmap(lambda one: replay(trace, state, one, end))(flat)
        return new.reshape(*x.shape[:2], *end.tensor.shape[1:])


def _stages(call: AttentionCall) -> tuple[Tensor, Tensor, Tensor]:
    """q, k and v of a call, [1, head, token, d_head]."""
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs), "own code is refused"
    return inputs.query, inputs.key, inputs.value


def _written(
    call: AttentionCall, q: Tensor, k: Tensor, v: Tensor
) -> Float[Tensor, "row head token d_model"]:
    """The output of every head through W_O, from its q, k and v."""
    inputs, out = call.inputs, call.projections["out"]
    assert isinstance(inputs, AttentionInputs), "own code is refused"
    mixed = patterns(inputs, q, k) @ by_head(inputs, v)
    w_o = torch.stack([out.rows(head, mixed.shape[-1]) for head in range(call.n_heads)])
    return torch.einsum("nhtd,hde->nhte", mixed, w_o.float())


def _by_head(
    read: Tensor, stages: Sequence[Tensor], slopes: Sequence[Tensor]
) -> Float[Tensor, "receiver token d_model"]:
    """The gradients by what is read for q, k and v of each head alone, from those by q, k and v."""
    counts = [stage.shape[1] for stage in stages]
    own = torch.split(torch.eye(sum(counts), dtype=read.dtype, device=read.device), counts, dim=1)
    alone = [
        of_head[:, None, :, None, None] * slope.to(read.dtype)
        for of_head, slope in zip(own, slopes, strict=True)
    ]
    (found,) = torch.autograd.grad(stages, read, alone, retain_graph=True, is_grads_batched=True)
    by_receiver: Tensor = found[:, 0]
    return by_receiver


def edgewise(run: TracedRun, output: str) -> Edgewise:
    """The stream that leads to one of a pass's outputs.

    Raises `UnsupportedAttention` for a model whose layers do not each read the stream and add to
    it: norms after sums, parallel layers, several stacks, attention in windows or of own code.
    """
    answer = run.value(output)
    sums = [state for state in states(answer) if writer_of(state) is not None]
    if len({(call.stack, call.kind) for call in run.calls}) > 1 or not sums:
        raise _refused(run, "it reads with several stacks or kinds of attention")
    for call in run.calls:
        if not isinstance(call.inputs, AttentionInputs) or call.windows is not None:
            raise _refused(run, f"{call.module} attends in windows or with code of its own")
        if "out" not in call.projections:
            raise _refused(run, f"it is not known which layer {call.module} writes with")
    start = start_of(sums[0])
    steps = []
    for before, state in zip((start, *sums), sums, strict=False):
        steps.append(_step(run, before, state))
    senders, receivers = _names(run, steps, sums)
    return Edgewise(run, start, tuple(steps), sums[-1], answer, senders, receivers)


def _step(run: TracedRun, before: Value, state: Value) -> Step:
    made_by, writer = state.made_by, writer_of(state)
    assert made_by is not None and writer is not None, "a state is a sum with a writer"
    operands = [made_by.value(term) for term in made_by.args[:2]]
    if not any(term is before for term in operands) or operands[0] is operands[1]:
        raise _refused(
            run,
            "its layers do not each add to the stream what they wrote: a norm stands after the"
            " sum, or layers run side by side",
        )
    written = next(term for term in operands if term is not before)
    call = run.written_by(writer)
    constant = torch.zeros_like(before.tensor[0], dtype=torch.float32)
    if call is not None:
        heads = sum(
            call.output[0, :, head].float()
            @ call.projections["out"].rows(head, call.output.shape[3]).float()
            for head in range(call.n_heads)
        )
        constant = (
            written.tensor.detach().float().reshape(before.tensor.shape)[0] - heads
        ).detach()
    return Step(before, written, call, constant)


def _names(
    run: TracedRun, steps: Sequence[Step], sums: Sequence[Value]
) -> tuple[tuple[str, ...], tuple[Receiver, ...]]:
    naming = Naming(run)
    senders, receivers = [EMBEDDINGS], []
    for step, state in zip(steps, sums, strict=True):
        if step.call is None:
            writer = writer_of(state)
            assert writer is not None, "a step has a writer"
            name = naming.layer_name(writer)
            receivers.append(Receiver(name, None, len(senders)))
            senders.append(name)
            continue
        inputs, n = step.call.inputs, len(senders)
        sizes = (inputs.n_heads, inputs.n_kv_heads, inputs.n_kv_heads)
        shared = inputs.n_heads // inputs.n_kv_heads
        for side, size in zip(SIDES, sizes, strict=True):
            for head in range(size):
                last = (
                    head
                    if side == "q" or shared == 1
                    else f"{head * shared}-{head * shared + shared - 1}"
                )
                receivers.append(Receiver(f"{site_of(step.call)}.H{last}", side, n))
        senders += [str(site_of(step.call, head)) for head in range(inputs.n_heads)]
    return tuple(senders), (*receivers, Receiver(ANSWER, None, len(senders)))


def _refused(run: TracedRun, reason: str) -> UnsupportedAttention:
    name = run.prepared.lm.name
    return UnsupportedAttention(
        f"the edges of {name} cannot be switched one by one: {reason}",
        code="no_edges",
        name=name,
        reason=reason,
    )
