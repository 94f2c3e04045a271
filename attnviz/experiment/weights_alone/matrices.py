"""The folded weights of every head, found from one pass of any input.

In: a model. Out: `Layers`, with a `Layer` for each attention call: W_Q, W_K, W_V [d_model, d_head]
and W_O [d_value, d_model] of its heads, and the calls that write into what each of them reads. γ of
the norm that a weight reads through is folded into it, and LayerNorm's mean, both exactly; σ, β and
the biases are no part of a circuit and are left out. The pass tells which tensors meet where; what
stood in it does not matter.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.audio.sound import sample
from attnviz.capture.request import Request
from attnviz.errors import UnsupportedAttention
from attnviz.experiment.clean_run import prepare_request
from attnviz.experiment.components import site_of
from attnviz.experiment.dataflow.parts import Walk
from attnviz.experiment.dataflow.rules import Leaf, Rules, joins_activations
from attnviz.experiment.dataflow.trace import Trace, Value
from attnviz.experiment.traced_run import TracedRun, traced_run
from attnviz.experiment.weights_alone.norms import Norm, norm_between, read_from
from attnviz.models import architecture
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Site
from attnviz.worlds import shapes

Part = Literal["q", "k", "v", "out"]
PARTS: tuple[Part, ...] = get_args(Part)
N_TOKENS = 33  # of the pass: distances 0 to 32
WRITTEN = "written"


@dataclass(frozen=True, eq=False)
class Layer:
    """The heads of one attention call.

    `values` has what the layers of q, k and v read and what W_O wrote; `norms` the norm in front of
    each, and behind W_O, of those that are known; `absent` the reason for each other. `senders` are
    the calls whose W_O writes into what a part reads.
    """

    call: AttentionCall
    values: Mapping[Part, Value]
    norms: Mapping[Part, Norm]
    absent: Mapping[Part, str]
    senders: Mapping[Part, tuple[int, ...]]

    @property
    def heads(self) -> tuple[Site, ...]:
        """Where its heads are."""
        return tuple(site_of(self.call, head) for head in range(self.call.n_heads))

    @property
    def inputs(self) -> AttentionInputs:
        """The tensors of the call; only a layer without any known part has none."""
        assert isinstance(self.call.inputs, AttentionInputs)
        return self.call.inputs

    def part(self, part: Part, head: int) -> Tensor:
        """The folded weight of one head; `UnsupportedAttention` where it is not known."""
        if part not in self.norms:
            raise UnsupportedAttention(
                f"{site_of(self.call, head)}: W_{part[0].upper()} is not known from the weights"
                f" alone: {self.absent[part]}",
                code="no_projection",
                module=self.call.module,
                stage=part,
            )
        weight, columns = self.call.projections[part].weight.detach(), self._columns(part, head)
        if part == "out":
            return self.norms[part].behind(weight[columns].float())
        return self.norms[part].before(weight[:, columns].float())

    def bias(self, part: Part, head: int) -> Tensor | None:
        """The bias of one head's part; None without one."""
        bias = self.call.projections[part].bias
        return None if bias is None else bias[self._columns(part, head)].detach().float()

    def _columns(self, part: Part, head: int) -> slice:
        own = self.inputs.kv_head(head) if part in ("k", "v") else head
        width = self.call.output.shape[3] if part in ("v", "out") else self.inputs.d_head
        return self.call.projections[part].columns(own, width)


@dataclass(frozen=True, eq=False)
class Layers:
    """The layers of a model in the order of the pass, and the traced pass that they were found in.

    `between` is True if norms stand between the writers and the readers of the stream beside the
    reader's own, as in the first transformers: what a head writes is then rescaled on its way.
    """

    run: TracedRun
    layers: tuple[Layer, ...]
    between: bool

    @property
    def heads(self) -> tuple[Site, ...]:
        """All heads in the order of the pass."""
        return tuple(head for layer in self.layers for head in layer.heads)


def layers_of(lm: LoadedModel, inputs: Mapping[str, ArrayLike | None] | None = None) -> Layers:
    """The folded weights of every head of a model; `inputs` are what it reads, where that is rare.

    Raises what `attnviz.capture` raises for a model that cannot be recorded.
    """
    request = any_input(lm) if inputs is None else Request.of(inputs=inputs)
    with lm.lock, torch.no_grad():
        run = traced_run(prepare_request(lm, request))
        values = [_values(run, call) for call in run.calls]
        written = [known.get("out") for known in values]
        layers = tuple(
            _layer(run, call, known, written) for call, known in zip(run.calls, values, strict=True)
        )
        return Layers(run, layers, _norms_between(run.trace, layers))


def any_input(lm: LoadedModel) -> Request:
    """Something that a model reads, whatever it says: ids, a picture, a sound, or its example."""
    n_ids = architecture.n_ids(lm.model)
    if lm.example is None and lm.kind == "vision":
        if lm.processor is not None:
            return Request.of(image=shapes.sample(0).picture())
        side = getattr(getattr(lm.model, "config", None), "image_size", 224)
        pixels = torch.randn(1, 3, side, side, generator=torch.Generator().manual_seed(0))
        return Request.of(inputs={"pixel_values": pixels.to(lm.key.device)})
    if lm.example is None and lm.kind == "speech":
        return Request.of(sound=sample())
    if lm.example is not None or n_ids is None:
        return Request.of()
    n_token = min(N_TOKENS, lm.max_tokens)
    # spread over the vocabulary, so that they are neither positions nor types
    ids = (torch.arange(n_token) * max(1, n_ids // n_token) + 1) % n_ids
    inputs = {"input_ids": ids[None].to(lm.key.device)}
    if architecture.has_decoder(lm.model):
        inputs["decoder_input_ids"] = inputs["input_ids"]
    return Request.of(inputs=inputs)


def _values(run: TracedRun, call: AttentionCall) -> dict[Part, Value]:
    """The values that q, k and v of a call read, and that W_O wrote, as far as they were seen."""
    values: dict[Part, Value] = {}
    earlier = run.calls[: run.calls.index(call)]
    for part in PARTS:
        layer = call.projections.get(part)
        if layer is None or not isinstance(call.inputs, AttentionInputs):
            continue
        before = [other.projections[part] for other in earlier if part in other.projections]
        nth = sum(other.module == layer.module for other in before)
        kept = run.trace.outputs_of if part == "out" else run.trace.inputs_of
        value = dict(enumerate(kept.get(layer.module, []))).get(nth)
        tensor = layer.output if part == "out" else layer.input
        if value is not None and torch.equal(value.tensor.reshape(-1), tensor.reshape(-1)):
            values[part] = value
    return values


def _layer(
    run: TracedRun,
    call: AttentionCall,
    values: Mapping[Part, Value],
    written: Sequence[Value | None],
) -> Layer:
    norms: dict[Part, Norm] = {}
    absent: dict[Part, str] = {}
    known: dict[int, Norm | None] = {}  # most layers read one tensor as q, k and v
    for part in PARTS:
        if part not in values:
            stage = "projected" if part == "out" else part
            absent[part] = call.absent.get(stage, "its linear layer was not seen to run")
            continue
        value = values[part]
        if id(value) not in known:
            find: Callable[[Trace, Value], Norm | None] = _behind if part == "out" else _in_front
            known[id(value)] = find(run.trace, value)
        norm = known[id(value)]
        if norm is None:
            absent[part] = "what stands between it and the residual stream is not a known norm"
            continue
        norms[part] = norm
        _ = call.projections[part].weight  # a layer that has to be called is called now
    senders: dict[Part, tuple[int, ...]] = {
        part: _senders(value, written) for part, value in values.items() if part != "out"
    }
    return Layer(call, values, norms, absent, senders)


def _in_front(trace: Trace, value: Value) -> Norm | None:
    """The norm between the residual stream and what a layer reads; None if it is unknown."""
    found = read_from(trace, value)
    return None if found is None else found[1]


def _behind(trace: Trace, value: Value) -> Norm | None:
    """The norm between what W_O wrote and the sum that it enters; None where that is unknown."""
    joining = _joining(trace, value)
    return None if joining is None else norm_between(trace, value, joining)


def _joining(trace: Trace, value: Value) -> Value | None:
    """The value that enters the residual stream for another one: a term of the next sum."""
    assert value.made_by is not None
    derived = {id(value): value}
    for operation in trace.operations[value.made_by.position + 1 :]:
        terms = [derived[id(term)] for term in operation.inputs.values() if id(term) in derived]
        if terms and joins_activations(operation):
            return terms[0]
        if terms:
            derived |= {id(output): output for output in operation.outputs}
    return None


def _senders(value: Value, written: Sequence[Value | None]) -> tuple[int, ...]:
    """The calls whose W_O wrote into what a value is made of."""
    numbers = {id(known): number for number, known in enumerate(written) if known is not None}

    def stop(reached: Value) -> list[Leaf] | None:
        if id(reached) not in numbers:
            return None
        return [Leaf(str(numbers[id(reached)]), WRITTEN, reached.tensor, reached)]

    leaves = Walk(value, Rules(sources=stop)).leaves
    return tuple(sorted({int(leaf.name) for leaf in leaves if leaf.kind == WRITTEN}))


def _norms_between(trace: Trace, layers: Sequence[Layer]) -> bool:
    """True unless the last layer reads the very numbers that the first of its senders wrote."""
    last = next((layer for layer in layers[::-1] if layer.senders.get("v")), None)
    if last is None:
        return False
    found = read_from(trace, last.values["v"])
    entered = _joining(trace, layers[last.senders["v"][0]].values["out"])
    if found is None or entered is None:
        return True

    def stop(reached: Value) -> list[Leaf] | None:
        if reached is not entered:
            return None
        return [Leaf(WRITTEN, WRITTEN, entered.tensor.detach().float(), entered)]

    walk = Walk(found[0], Rules(sources=stop))
    arrived = walk.total(lambda leaf: leaf.tensor if leaf.kind == WRITTEN else None)
    own = entered.tensor.detach().float()
    return not torch.allclose(arrived.reshape(own.shape), own, rtol=1e-5, atol=1e-6)
