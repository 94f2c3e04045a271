"""The components of a stream by name: heads, MLPs, embeddings and biases.

In: a traced run and a value of it. Out: `Component`s with what each brings to the value, in the
value's shape; they sum to it. What W_O wrote is split into its heads, each head's output times its
rows of W_O; an MLP is named after the layer that it belongs to, "MLP 3", as heads are, "L3.H1".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.experiment.dataflow.parts import Part, Walk
from attnviz.experiment.dataflow.rules import Leaf, Rules
from attnviz.experiment.dataflow.trace import Operation, Value
from attnviz.experiment.traced_run import TracedRun
from attnviz.types import Site

ComponentKind = Literal["embedding", "head", "mlp", "bias", "other"]
KINDS: dict[str, ComponentKind] = {
    "embedding": "embedding",
    "head": "head",
    "linear": "mlp",
    "bias": "bias",
}


@dataclass(frozen=True)
class Component:
    """The writer of a summand.

    `site` is set for a head, `layer` also for MLPs and biases of a layer.

    `module` is the dotted name of what wrote it, `via` names the MLPs that it went through since.
    """

    label: str
    kind: ComponentKind
    layer: int | None
    module: str
    site: Site | None = None
    via: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " → ".join((self.label, *self.via))


@dataclass(frozen=True, eq=False)
class Contribution:
    """A component's contribution to a value, in the value's shape."""

    component: Component
    tensor: Tensor


def site_of(call: AttentionCall, head: int | None = None) -> Site:
    """Where a head of a call is."""
    return Site(call.layer, head, call.kind, call.stack)


def components(run: TracedRun, value: Value, rules: Rules) -> list[Contribution]:
    """Everything that a value is the sum of, in the order in which it was written."""
    naming = Naming(run)
    parts = Walk(value, replace(rules, sources=naming.heads_of)).parts()
    return [naming.written(part) for part in sorted(parts, key=lambda part: part.position)]


class Naming:
    """Names of parts and states; it learns which parts are heads while a walk asks it."""

    def __init__(self, run: TracedRun) -> None:
        self._run = run
        self._heads: dict[str, Site] = {}
        # the attention that wrote last before each layer's operations, to name MLPs after it
        self._behind: dict[str, AttentionCall] = {}
        self._writing: list[tuple[int, AttentionCall]] = []
        for operation in run.trace.operations:
            call = run.written_by(operation)
            if call is not None:
                self._writing.append((operation.position, call))
            if self._writing:
                self._behind.setdefault(operation.module, self._writing[-1][1])

    def heads_of(self, value: Value) -> Sequence[Leaf] | None:
        """The heads and the bias that a run of W_O sums; None for any other value."""
        call = self._run.heads_behind(value)
        if call is None:
            return None
        layer, shape = call.projections["out"], value.tensor.shape
        leaves = []
        for head in range(call.n_heads):
            rows = layer.rows(head, call.output.shape[3])
            wrote = call.output[:, :, head].float() @ rows.float()
            name = str(site_of(call, head))
            self._heads[name] = site_of(call, head)
            leaves.append(Leaf(name, "head", wrote.reshape(shape), value))
        if layer.bias is not None:
            bias = layer.bias.float().expand(shape)
            leaves.append(Leaf(f"{site_of(call)}.b_O", "bias", bias, value))
        return leaves

    def written(self, part: Part) -> Contribution:
        """A part with its name."""
        kind = KINDS.get(part.kind, "other")
        site = self._heads.get(part.name) if kind == "head" else None
        layer = site.layer if site is not None else self._layer_at(part)
        via = tuple(self._mlp_name(module) for module in part.via)
        label = part.name
        if kind == "mlp":
            label = self._mlp_name(part.name)
        elif kind == "embedding":
            label = part.name.rsplit(".", 1)[-1]
        return Contribution(Component(label, kind, layer, part.name, site, via), part.tensor)

    def layer_name(self, writer: Operation) -> str:
        """ "L3" for what attention wrote into the stream, "MLP 3" for what follows it."""
        call = self._run.written_by(writer)
        return self._mlp_name(writer.module) if call is None else str(site_of(call))

    def _layer_at(self, part: Part) -> int | None:
        before = [call for position, call in self._writing if position <= part.position]
        return before[-1].layer if before and part.position >= 0 else None

    def _mlp_name(self, module: str) -> str:
        """ "MLP 3" for what writes behind the attention of layer 3."""
        call = self._behind.get(module)
        if call is None:
            return module
        stack = "" if call.stack is None else f"{call.stack} "
        return f"{stack}MLP {call.layer}"
