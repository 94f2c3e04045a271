"""`Trace`: what is written down of a pass, and memory that is written in place."""

import torch
from torch import nn

from attnviz.experiment.dataflow.operations import aten
from attnviz.experiment.dataflow.trace import Trace
from tests.unit.experiment.dataflow.blocks import IDS, PostNorm, PreNorm, seeded


def test_a_trace_names_the_module_of_each_operation() -> None:
    model = seeded(PostNorm())
    with torch.no_grad(), Trace(model) as trace:
        output = model(IDS)
    linear = [(of.module, of.run) for of in trace.operations if of.packet is aten.addmm]
    assert linear == [(f"mlps.{n}.{part}", 0) for n in (0, 1) for part in ("up", "down")]
    assert trace.value(output).made_by is trace.operations[-1]
    assert [of.position for of in trace.operations] == list(range(len(trace.operations)))


def test_a_trace_leaves_the_model_as_it_was() -> None:
    model = seeded(PreNorm())
    with torch.no_grad():
        before = model(IDS)
        with Trace(model):
            during = model(IDS)
    assert torch.equal(before, during)
    assert not any(of._forward_hooks or of._forward_pre_hooks for of in model.modules())


def test_parameters_and_what_they_made_are_learned_but_positions_are_not() -> None:
    model = seeded(PreNorm())
    with torch.no_grad(), Trace(model) as trace:
        output = model(IDS)
    places = next(of for of in trace.operations if of.packet is aten.arange)
    assert trace.value(model.head.weight).learned and trace.value(model.head.weight).constant
    assert trace.value(output).learned
    assert not places.outputs[0].learned


def test_a_module_that_runs_twice_counts_its_runs() -> None:
    shared = nn.Linear(2, 2)
    model = nn.Sequential(shared, nn.ReLU(), shared)
    with torch.no_grad(), Trace(model) as trace:
        model(torch.ones(3, 2))
    assert [of.run for of in trace.operations if of.packet is aten.addmm] == [0, 1]
    assert len(trace.inputs_of["0"]) == 2


def test_memory_written_in_place_is_copied_with_its_views() -> None:
    class Adds(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * 2
            self.view = y.reshape(-1)
            return y.add_(1)

    model = Adds()
    with torch.no_grad(), Trace(model) as trace:
        output = model(torch.ones(2, 2))
    product = next(of for of in trace.operations if of.packet is aten.mul)
    view = next(of for of in trace.operations if of.packet is aten.view)
    assert torch.equal(output, torch.full((2, 2), 3.0))
    assert torch.equal(product.outputs[0].tensor, torch.full((2, 2), 2.0))
    assert torch.equal(view.outputs[0].tensor, torch.full((4,), 2.0))
