"""The residual stream of a traced pass: its states, and the rest of the model run from them.

In: a value above the stream, such as logits. Out: `states`, the sums of two activations that lead
to it, the first of the pass first; `replay`, the model's own operations behind one of them, its
last norm included, with another tensor in its place. That is the logit lens (nostalgebraist 2020)
without a name of a norm or of an unembedding.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from attnviz.experiment.dataflow import operations as ops
from attnviz.experiment.dataflow.operations import aten, tensors
from attnviz.experiment.dataflow.rules import joins_activations
from attnviz.experiment.dataflow.trace import Operation, Trace, Value


def states(value: Value) -> list[Value]:
    """The states of the residual stream that lead to a value, in the order of the pass."""
    stream: list[Value] = []
    current: Value | None = value
    while current is not None and current.made_by is not None:
        if joins_activations(current.made_by):
            stream.append(current)
        current = _before(current.made_by, bool(stream))
    return stream[::-1]


def _before(made_by: Operation, in_stream: bool) -> Value | None:
    """The value that the stream comes from, one operation back; None where it begins."""
    if made_by.packet in ops.LINEAR:
        x = made_by.args[1] if made_by.packet is aten.addmm else made_by.args[0]
        return None if in_stream else made_by.value(x)
    if made_by.packet in ops.ELEMENTWISE:
        terms = [made_by.value(term) for term in made_by.args[:2] if isinstance(term, Tensor)]
        terms = [term for term in terms if not term.constant] or terms
        if joins_activations(made_by):  # it goes on in the operand that is itself made of sums
            return max(reversed(terms), key=lambda term: term.n_sums)
        return max(terms, key=lambda term: term.tensor.numel())
    if made_by.packet in ops.MOVES | ops.GATES | ops.NORMS:
        return made_by.value(made_by.args[0])
    return None


def before_last_linear(value: Value) -> Value:
    """The input of the last linear layer on the way to a value: the states that are unembedded."""
    made_by = last_linear(value)
    if made_by is None:
        return value
    return made_by.value(made_by.args[1] if made_by.packet is aten.addmm else made_by.args[0])


def last_linear(value: Value) -> Operation | None:
    """The last linear layer on the way to a value; None if there is none."""
    current = value
    while current.made_by is not None and current.made_by.packet not in ops.LINEAR:
        learned = [
            source
            for source in current.made_by.inputs.values()
            if source.learned and not source.constant
        ]
        if not learned:
            return None
        current = max(learned, key=lambda source: source.tensor.numel())
    return current.made_by


def writer_of(state: Value) -> Operation | None:
    """The linear layer that wrote what a state added to the one before it; None at the first."""
    made_by = state.made_by
    assert made_by is not None and joins_activations(made_by), "a state is a sum"
    left, right = (made_by.value(term) for term in made_by.args[:2])
    current: Value | None = right if left.n_sums >= right.n_sums else left
    while current is not None and current.made_by is not None:
        if current.made_by.packet in ops.LINEAR:
            return current.made_by
        current = next(
            (source for source in current.made_by.inputs.values() if source.learned), None
        )
    return None


def start_of(first: Value) -> Value:
    """The sum of the embeddings: what was there before, of the two that the first state adds."""
    made_by = first.made_by
    assert made_by is not None and joins_activations(made_by), "a state is a sum"
    terms = [made_by.value(term) for term in made_by.args[:2]]
    return min(terms, key=lambda term: -1 if term.made_by is None else term.made_by.position)


def replay(trace: Trace, start: Value, new: Tensor, end: Value) -> Tensor:
    """`end` computed again with another tensor in place of `start`, nothing frozen."""
    return replay_all(trace, start, new, (end,))[0]


def replay_all(trace: Trace, start: Value, new: Tensor, ends: Sequence[Value]) -> list[Tensor]:
    """Each of the `ends` computed again, what leads to several of them once."""
    changed: dict[int, Tensor] = {id(start): new}
    begin = 0 if start.made_by is None else start.made_by.position + 1
    missing = {id(end) for end in ends} - changed.keys()
    for operation in trace.operations[begin:]:
        if not missing:
            break
        if not any(id(value) in changed for value in operation.inputs.values()):
            continue
        args = _swapped(operation.args, operation, changed)
        kwargs = _swapped(operation.kwargs, operation, changed)
        out = operation.func(*args, **kwargs)
        for value, tensor in zip(operation.outputs, tensors(out), strict=True):
            changed[id(value)] = tensor
            missing.discard(id(value))
    return [changed[id(end)] for end in ends]


def _swapped(tree: Any, operation: Operation, changed: Mapping[int, Tensor]) -> Any:
    """The arguments of an operation with those tensors replaced that are computed anew."""
    if isinstance(tree, Tensor):
        value = operation.value(tree)
        return changed.get(id(value), value.tensor)
    if isinstance(tree, tuple | list):
        return type(tree)(_swapped(part, operation, changed) for part in tree)
    if isinstance(tree, dict):
        return {name: _swapped(part, operation, changed) for name, part in tree.items()}
    return tree
