"""One pass that is recorded and traced at once, and what wrote into its residual stream.

In: prepared inputs. Out: a `TracedRun`, whose tensors `components` names: what each head wrote
through W_O, each MLP, each embedding and each bias.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.capture.record.recorder import record
from attnviz.capture.request import Request
from attnviz.experiment.clean_run import CleanRun, as_mapping, prepare_request
from attnviz.experiment.dataflow.trace import Operation, Trace, Value
from attnviz.models.loaded_model import LoadedModel


@dataclass(frozen=True, eq=False)
class TracedRun:
    """A pass of a model without changes: its calls, its operations and its output."""

    prepared: CleanRun
    calls: tuple[AttentionCall, ...]
    trace: Trace
    output: Mapping[str, Any]

    def value(self, name: str) -> Value:
        """The traced value of one of the outputs."""
        tensor = self.output[name]
        assert isinstance(tensor, Tensor)
        return self.trace.value(tensor)

    def read_by(self, call: AttentionCall, module: str) -> Value | None:
        """The value that a layer beside a call read; None where the layer did not run for it."""
        earlier = sum(other.module == call.module for other in self.calls[: self.calls.index(call)])
        values = self.trace.inputs_of.get(module, [])
        return values[earlier] if earlier < len(values) else None

    @cached_property
    def _by_output_layer(self) -> dict[tuple[str, int], AttentionCall]:
        return by_output_layer(self.calls)

    @cached_property
    def _writers(self) -> dict[int, AttentionCall]:
        """The call behind each value that a run of W_O returned, by the value's identity.

        Not behind a product inside it: an adapter or a scale is a part of W_O.
        """
        writers: dict[int, AttentionCall] = {}
        for (module, run), call in self._by_output_layer.items():
            returned = self.trace.outputs_of.get(module, [])
            value = returned[run] if run < len(returned) else None
            if value is not None:
                writers[id(value)] = call
        return writers

    def heads_behind(self, value: Value) -> AttentionCall | None:
        """The call whose heads, through W_O, a value is the sum of; None for any other value."""
        return self._writers.get(id(value))

    def written_by(self, operation: Operation) -> AttentionCall | None:
        """The call whose W_O an operation is a part of; None for any other.

        W_O may be several modules, as a layer with an adapter: what runs inside it belongs to it.
        """
        module = operation.module
        while module:
            call = self._by_output_layer.get((module, operation.run))
            if call is not None:
                return call
            module = module.rpartition(".")[0]
        return None


def traced_run(prepared: CleanRun) -> TracedRun:
    """The inputs run once more, with every operation written down; kept with the run."""
    return prepared.once(_traced)


def prepare_traced(lm: LoadedModel, request: Request, *, last_row: bool = False) -> CleanRun:
    """As `prepare_request`, but the one pass is traced too: for who will ask for that as well."""
    trace = Trace(lm.model)
    prepared = prepare_request(lm, request, last_row=last_row, watched=trace)
    prepared.keep(_traced, TracedRun(prepared, prepared.calls, trace, prepared.clean))
    return prepared


def forget_trace(prepared: CleanRun) -> None:
    """Let go of the traced pass, which holds every tensor of it; what was made of it stays."""
    prepared.forget(_traced)


def _traced(prepared: CleanRun) -> TracedRun:
    lm = prepared.lm
    with lm.lock, torch.no_grad(), record(lm.model) as calls, Trace(lm.model) as trace:
        output = lm.model(**prepared.inputs, **prepared.options)
    return TracedRun(prepared, tuple(calls), trace, as_mapping(output))


def by_output_layer(calls: Sequence[AttentionCall]) -> dict[tuple[str, int], AttentionCall]:
    """{(module of W_O, n-th run): call}; a layer that several calls share runs once for each."""
    runs: dict[str, int] = {}
    by_run: dict[tuple[str, int], AttentionCall] = {}
    for call in calls:
        layer = call.projections.get("out")
        if layer is not None:
            run = runs.get(layer.module, 0)
            runs[layer.module] = run + 1
            by_run[layer.module, run] = call
    return by_run
