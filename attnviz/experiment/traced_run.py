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
from attnviz.experiment.clean_run import CleanRun, as_mapping
from attnviz.experiment.dataflow.trace import Operation, Trace, Value


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

    @cached_property
    def writers(self) -> dict[tuple[str, int], AttentionCall]:
        """The call whose heads each run of a W_O layer reads."""
        return by_output_layer(self.calls)

    def written_by(self, operation: Operation) -> AttentionCall | None:
        """The call whose heads a linear operation writes into the stream; None for any other."""
        return self.writers.get((operation.module, operation.run))


def traced_run(prepared: CleanRun) -> TracedRun:
    """The inputs run once more, with every operation written down; kept with the run."""
    return prepared.once(_traced)


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
