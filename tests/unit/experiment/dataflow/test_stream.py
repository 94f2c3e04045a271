"""`states`, `writer_of` and `replay`: the residual stream, and the model run on from it."""

import torch

from attnviz.experiment.dataflow.stream import before_last_linear, replay, states, writer_of
from attnviz.experiment.dataflow.trace import Trace, Value
from tests.unit.experiment.dataflow.blocks import IDS, PostNorm, PreNorm, seeded


def traced(model: torch.nn.Module) -> tuple[Trace, Value]:
    with torch.no_grad(), Trace(model) as trace:
        output = model(IDS)
    return trace, trace.value(output)


def test_states_are_the_sums_of_activations_in_order() -> None:
    model = seeded(PreNorm())
    trace, logits = traced(model)
    found = states(logits)
    writers = [writer_of(state) for state in found]
    assert [of and of.module for of in writers] == [None, "mlps.0.down", "mlps.1.down"]
    last = trace.inputs_of["last"][0]
    assert found[-1] is last
    start = model.embed(IDS) + model.places(torch.arange(3))
    assert torch.equal(found[0].tensor, start)


def test_replay_from_the_last_state_gives_the_logits() -> None:
    trace, logits = traced(seeded(PreNorm(rms=True)))
    last = states(logits)[-1]
    assert torch.equal(replay(trace, last, last.tensor, logits), logits.tensor)


def test_replay_of_an_earlier_state_is_the_models_own_end_of_it() -> None:
    """The logit lens by name: head(norm(x))."""
    model = seeded(PreNorm())
    trace, logits = traced(model)
    first, last = states(logits)[0], states(logits)[-1]
    with torch.no_grad():
        expected = model.head(model.last(first.tensor))
    assert torch.equal(replay(trace, last, first.tensor, logits), expected)


def test_replay_runs_what_follows_and_freezes_nothing() -> None:
    model = seeded(PreNorm())
    trace, logits = traced(model)
    first = states(logits)[0]
    with torch.no_grad():
        x = first.tensor * 3
        for norm, mlp in zip(model.norms, model.mlps, strict=True):
            x = x + mlp(norm(x))
        expected = model.head(model.last(x))
    assert torch.equal(replay(trace, first, first.tensor * 3, logits), expected)


def test_before_last_linear_is_what_the_unembedding_reads() -> None:
    model = seeded(PreNorm())
    trace, logits = traced(model)
    found = before_last_linear(logits)
    head_read = trace.inputs_of["head"][0]
    assert head_read is not None
    assert torch.equal(found.tensor.reshape(head_read.tensor.shape), head_read.tensor)


def test_a_post_norm_stream_has_a_state_for_each_sum() -> None:
    _, hidden = traced(seeded(PostNorm()))
    assert [of.module for state in states(hidden) if (of := writer_of(state))] == [
        "mlps.0.down",
        "mlps.1.down",
    ]
