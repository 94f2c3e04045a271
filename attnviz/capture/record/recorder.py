"""`record`: run a model inside a `with` block and keep every attention call that it makes.

In: any module that computes attention, alone or inside others. Out: a list that is complete when
the block ends. Modules that use transformers' attention interface are recorded there; all others
are watched while they run. Attention that cannot be recorded is named with the reason and does not
stop the rest. The model is put back as it was, also after an error. One thread at a time records a
module, the next one waits; the runs of other threads are not mixed in, because the active recorder
is one of the thread.
"""

import math
from collections.abc import Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import MissingCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.attention.stage_changes import StageChange
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.coarse_keys import SpatialWatch, where_coarse
from attnviz.capture.locate.head_share import HeadShare, put_together, require_whole_heads
from attnviz.capture.locate.layers import (
    Copies,
    LinearRun,
    TensorState,
    memory_of,
)
from attnviz.capture.locate.modules import Modules, modules_by_name
from attnviz.capture.locate.own_code import (
    computing_attention,
    interface_configs,
    may_have_own_code,
)
from attnviz.capture.locate.projections_by_memory import (
    AwaitedOutput,
    LinearWatch,
    layers_in_attention,
)
from attnviz.capture.locate.structure import kind_of
from attnviz.capture.record.busy import alone
from attnviz.capture.record.fast_path import fast_path
from attnviz.capture.record.function_callers import AskingModules
from attnviz.capture.record.gaps import IN_PARTS, OVERWRITTEN, Missing, absent_stages
from attnviz.capture.record.head_lists import Recorded, with_whole_layers
from attnviz.capture.record.interface import active, is_recording, noted_inputs
from attnviz.capture.record.ownership import is_uncounted, owned, states_of, sums_of
from attnviz.capture.record.parameter_products import ProductReaders, add_products
from attnviz.capture.record.pass_log import NotedAttention, PassLog
from attnviz.capture.record.room import FreeRoom
from attnviz.capture.record.runs import ModuleRun, RunCounter, with_layers
from attnviz.capture.record.seen_attention import SeenAttention
from attnviz.capture.record.steps import StepCall, newest_step, whole_step, without_empty_slots
from attnviz.capture.record.switch import eagerly, on_our_functions
from attnviz.capture.record.watch import Watch
from attnviz.capture.storage import Storage
from attnviz.errors import UnsupportedAttention
from attnviz.types import Kind

# up to this many queries, all that the model computed is kept to compare with; beyond, samples
MAX_WHOLE_ROWS = 512
SAMPLED_ROWS = 8
NOTHING_RAN = "ran without one attention call that could be recorded"
SCRIPTED = (
    "is compiled by torch.jit and takes no hooks; record the module that it was compiled from, or a"
    " module around it"
)


class RecordedCalls(list[AttentionCall]):
    """The recorded calls in the order in which they ran; `missing` names those that are not."""

    missing: list[MissingCall]


class Recorder:
    """Builds an `AttentionCall` from each call that is reported to it.

    With `thin`, only samples are kept of what the model computed for a long text. With `newest`,
    only the newest keys and values are kept of the forward passes after the first one. With `grad`,
    q, k, v and outputs keep their place in the graph of gradients. Calls are kept in `storage`,
    each as soon as the next one runs, so that nothing of them stays where the model computes.
    `noted` are the plain layers of a small pass that was noted and is read now.
    """

    def __init__(
        self,
        modules: Modules,
        *,
        thin: bool = False,
        newest: bool = False,
        grad: bool = False,
        storage: Storage | None = None,
        noted: Set[str] | None = None,
    ) -> None:
        self.grad = grad
        self._storage = storage or Storage()
        self._keeps_early = not (newest or grad)
        self._kept: set[int] = set()  # the projections of calls that are in the storage
        self._is_noted = noted is not None
        self._room = None if self._is_noted else FreeRoom(modules, self._storage)
        self.calls = RecordedCalls()
        self.steps: list[StepCall] = []
        # the hooks hold this object and not the recorder, which would keep itself alive
        self.turn = object()
        self._thin, self._newest = thin, newest
        self._modules, self._names = modules, modules.names
        self._lists = modules.fact(_lists)
        self.attended: set[str] = set()  # the modules of all recorded calls
        self._runs: list[ModuleRun] = []
        # the projections of calls that are the next head of a loop, and of all heads of loops
        self._next_heads: set[int] = set()
        self._in_loops: set[int] = set()
        self._first_calls: dict[str, AttentionCall] = {}
        self._states: list[list[TensorState]] = []
        self.watch: Watch | None = None  # of own code
        self._is_open, self.missing = True, Missing(self._names)
        self.calls.missing = self.missing.calls
        is_active = partial(is_recording, self.turn)
        self._counter = RunCounter(is_active)
        self._linears = LinearWatch(is_active, noted or frozenset())
        self.readers = ProductReaders(modules.names)
        self._spatial = SpatialWatch(is_active)
        self._masks = Copies()
        self._asking = AskingModules(is_active)

    def watch_modules(self, modules: Modules, layers: Mapping[str, nn.Module]) -> None:
        """Set the hooks, on these layers and on what runs around them."""
        self._counter.watch(modules[""])
        self._linears.watch(modules, layers)
        self._spatial.watch(modules)
        self._asking.watch(modules)

    def close(self) -> None:
        """Remove the hooks from the model."""
        for part in (self._counter, self._linears, self._spatial, self._asking):
            part.close()
        self._first_calls.clear()
        self._is_open = False
        self.watch = None  # which holds this object: a circle is freed late

    def take(
        self,
        module: nn.Module,
        inputs: AttentionInputs,
        output: Tensor,
        share: HeadShare | None = None,
    ) -> None:
        """Keep one call of the attention interface."""
        if self._counter.fills_slots(inputs.key):
            inputs = without_empty_slots(inputs)
        self._add_with_projections(module, inputs, output, share=share)

    def read(self, log: PassLog) -> None:
        """Keep the calls of a pass that was noted."""
        for entry in log.entries:
            if isinstance(entry, NotedAttention):
                inputs, output = noted_inputs(entry), entry.output.detach()
                self._add_with_projections(entry.module, inputs, output)
            elif entry.read.ndim == entry.wrote.ndim == 3:
                name, module, read, wrote, *_ = entry
                layer, memory = log.layers[name].layer, memory_of(read)
                self._linears.take(
                    LinearRun(name, module, read, wrote, memory, is_plain=True, layer=layer)
                )

    def leave_out(self, module: nn.Module, error: UnsupportedAttention) -> None:
        """Name one call of the attention interface that no step models."""
        self.missing.add_error(module, error)

    def records(self, module: nn.Module) -> bool:
        """True if the module is one of those that are recorded now."""
        return self._is_open and id(module) in self._names

    def exchange(self, read: Tensor, output: Tensor, changes: tuple[StageChange, ...]) -> None:
        """Keep the changed output of a call in place of the one that W_O was to `read`.

        Raises `UnsupportedAttention` if no recorded call has that output.
        """
        if self.watch is not None:
            self.watch.decide_by(read)
        awaited = self._linears.exchange(read, output, changes)
        if any(together.whole is awaited for together in self._linears.read_together):
            return  # of a list of heads, which becomes one call in the end
        calls = enumerate(self.calls)
        at = [n for n, call in calls if awaited and call.projections is awaited.projections]
        if awaited is None or not at:
            raise UnsupportedAttention(
                "the layer behind the changed heads read what no recorded call gave: the change"
                " would not be seen in the capture",
                code="change_unseen",
            )
        self.readers.exchange(awaited)
        call = self.calls[at[0]]
        kept = output[:, :: call.row_step].clone() if call.row_step > 1 else output
        self.calls[at[0]] = replace(call, output=kept, inputs=replace(call.inputs, changes=changes))
        if self._newest:
            self.steps[at[0]] = replace(self.steps[at[0]], call=self.calls[at[0]])

    def exchange_returned(
        self, module: nn.Module, output: Tensor, changes: tuple[StageChange, ...]
    ) -> None:
        """Keep the changed outputs of torch's own module, which returns now."""
        if self.watch is not None:
            self.watch.exchange(module, output, changes)

    def take_seen(self, seen: SeenAttention) -> None:
        """Keep one attention of a module with code of its own.

        Raises `UnsupportedAttention` where gradients are wanted: it is seen below their graph.
        """
        if self.grad:
            name = self._name(seen.module)
            raise UnsupportedAttention(
                f"{name} computes attention with its own code, where attnviz records it without"
                " gradients: record it without grad=True",
                code="own_code_gradient",
                module=name,
            )
        self._take_back(seen.replaces)
        if seen.refused is not None:
            self.missing.add(seen.module, seen.refused)
            return
        states, n_before = sums_of(seen.inputs), len(self.calls)
        if isinstance(seen.inputs, StoredWeights):
            absent = absent_stages(seen.inputs)
            projections: dict[str, Projection] = {}
            step = self._row_step(seen.inputs.n_query)
            awaited = AwaitedOutput(seen.output, projections, absent, step, by_value=True)
            self._linears.await_output(awaited, self._name(seen.module))
            self.readers.await_output(seen.module, awaited)
            absent |= dict.fromkeys(seen.apart, IN_PARTS)
            known = projections, absent
            self._add(seen.module, seen.inputs, seen.output, *known, seen.kind, seen.is_next)
        elif seen.projections or seen.absent:  # torch's own module, whose layers are known
            known = seen.projections, seen.absent
            self._add(seen.module, seen.inputs, seen.output, *known, seen.kind)
        else:
            self._add_with_projections(seen.module, seen.inputs, seen.output, seen=seen)
        if len(self.calls) > n_before:
            self._states[-1] = states

    def _add_with_projections(
        self,
        module: nn.Module,
        inputs: AttentionInputs,
        output: Tensor,
        *,
        share: HeadShare | None = None,
        seen: SeenAttention | None = None,
    ) -> None:
        """Keep a call with the linear layers before it and, as soon as that runs, behind it.

        It was `seen` in code of the model's own, or went through transformers' interface.
        """
        own = inputs if share is None else share.own_inputs
        projections, absent = self._linears.makers(own.query, own.key, own.value)
        if share is not None:
            put_together(share, projections, absent)
        if "k" in absent or "v" in absent:
            self._add_layers_of_cached(self._name(module), inputs, projections, absent)
        step = self._row_step(inputs.n_query)
        mine = output if share is None else share.own_output
        awaited = AwaitedOutput(mine, projections, absent, step, seen is not None, share)
        self._linears.await_output(awaited, self._name(module))
        if seen is None:
            self._add(module, inputs, output, projections, absent)
            return
        self.readers.await_output(seen.module, awaited)
        if seen.products is not None:
            add_products(seen.products, self._modules, projections, absent)
        absent |= {stage: IN_PARTS for stage in seen.apart if stage not in projections}
        if "x" in absent:
            absent["x"] = absent["q"]
        self._add(module, inputs, output, projections, absent, seen.kind, seen.is_next)

    def _take_back(self, n_call: int) -> None:
        """Forget the last calls: each is a part of the one that follows."""
        for call in self.calls[len(self.calls) - n_call :]:
            self._linears.forget(call.projections)
            self.readers.forget(call.projections)
            self._counter.take_back(call.module)
            if self._first_calls.get(call.module) is call:
                del self._first_calls[call.module]
        for kept in (self.calls, self._runs, self._states, self.steps):
            del kept[max(len(kept) - n_call, 0) :]

    def _add_layers_of_cached(
        self,
        name: str,
        inputs: AttentionInputs,
        projections: dict[str, Projection],
        absent: dict[str, str],
    ) -> None:
        """Add the layers of keys and values that a cache kept from an earlier call of the module.

        Cross-attention makes them once; in later steps no layer runs that could be found.
        """
        earlier = self._first_calls.get(name)
        if earlier is None or not isinstance(earlier.inputs, AttentionInputs):
            return
        pairs = {
            "k": (earlier.inputs.key, inputs.key),
            "v": (earlier.inputs.value, inputs.value),
        }
        for layer, (before, now) in pairs.items():
            known = earlier.projections.get(layer)
            if known is None or known.turned or layer not in absent:
                continue  # a rotation is a guess until the pass ends
            if before.shape == now.shape and torch.equal(before, now):
                self._linears.share(layer, earlier.projections, projections)
                del absent[layer]

    def _add(
        self,
        module: nn.Module,
        inputs: AttentionInputs | StoredWeights,
        output: Tensor,
        projections: dict[str, Projection],
        absent: dict[str, str],
        kind: Kind | None = None,
        is_next: bool = False,
    ) -> None:
        if torch._C._current_graph_task_id() != -1 and not self._is_noted:
            return  # a checkpoint computes it again, for the gradients
        name = self._name(module)
        if isinstance(inputs, AttentionInputs) and inputs.versions is None:
            mask = None if inputs.mask is None else self._masks.of(inputs.mask)
            inputs = inputs.watched(mask)
        coarser = self._spatial.take(name)
        sizes = inputs.n_batch, inputs.n_query, inputs.n_key
        query_places, key_places = self._spatial.places(coarser, *sizes)
        kind = kind_of(module, name, projections, coarser, kind)
        step = self._row_step(inputs.n_query)
        if step > 1:
            output = output[:, ::step].clone()
            for layer in list(projections):
                projections[layer] = projections[layer].thinned(step)
        else:
            self._linears.own(projections)
        call = AttentionCall(
            module=name,
            index=self._counter.next_call(name),
            layer=0,
            stack=None,
            kind=kind,
            inputs=inputs,
            output=output,
            projections=projections,
            absent=absent,
            row_step=step,
            query_places=query_places,
            key_places=key_places,
        )
        self._first_calls.setdefault(name, call)
        self._runs.append(self._counter.run_of(module, name))
        if self._newest:
            step_call = newest_step(call) if self._counter.n_pass > 1 else whole_step(call)
            self.steps.append(step_call)
            call = step_call.call
        elif self._room is not None and self._counter.n_pass <= 1:
            self._room.require(module, call)
        if is_next and self.calls:
            self._next_heads.add(id(projections))
            self._in_loops |= {id(self.calls[-1].projections), id(projections)}
        self._keep_finished()
        self._states.append(states_of(call))
        self.calls.append(call)

    def _keep_finished(self) -> None:
        """Put the calls before this one into the storage, unless something of them is awaited.

        Of a long text, samples of what layers read and wrote are copies: nothing else of the layers
        stays, wherever the calls are kept.
        """
        is_short = not self.calls or self.calls[-1].row_step == 1
        if not self._keeps_early or (self._storage.changes_nothing and is_short):
            return
        for place in range(len(self.calls) - 1, -1, -1):
            call, is_left = self.calls[place], self._storage.leaves(self.calls[place])
            if id(call.projections) in self._kept:
                break
            if is_left and call.row_step == 1:
                continue  # what the model does to it later is still seen
            is_whole = is_left or all(state.holds() for state in self._states[place])
            can_be_kept = is_whole and not self._may_join(call)
            if can_be_kept and self._linears.check_early(call.projections):
                self._kept.add(id(call.projections))
                if not is_left:
                    self._keep(place, call)

    def _keep(self, place: int, call: AttentionCall) -> None:
        self.calls[place] = self._storage.keep(call)
        self._states[place] = []
        if self._first_calls.get(call.module) is call:
            del self._first_calls[call.module]

    def _may_join(self, call: AttentionCall) -> bool:
        """True for a single head of a list or of a loop, which may be part of a layer."""
        is_listed = call.n_heads == 1 and call.module.rpartition(".")[0] in self._lists
        return is_listed or id(call.projections) in self._in_loops

    def _row_step(self, n_query: int) -> int:
        return row_step(n_query) if self._thin else 1

    def _name(self, module: nn.Module) -> str:
        return self._names.get(id(module)) or type(module).__name__

    def finish(self) -> None:
        """Take back wrong guesses, and number the layers of each stack and kind as they ran."""
        self._masks.clear()
        self._linears.settle()
        self._linears.check()
        self.readers.settle(self._modules)
        self._drop_overwritten()
        self.attended = {call.module for call in self.calls}
        self.missing.add_not_asked(self.attended, self._asking.ran)
        if not self._newest:
            are_next = [id(call.projections) in self._next_heads for call in self.calls]
            recorded = list(map(Recorded, self.calls, self._runs, are_next))
            refused = {call.module for call in self.missing.calls}
            together = self._linears.read_together
            whole = with_whole_layers(recorded, self._lists, together, refused)
            self.calls[:] = [one.call for one in whole]
            self._runs = [one.run for one in whole]
        self.calls[:] = where_coarse(with_layers(self.calls, self._runs))
        if self._newest:
            pairs = zip(self.steps, self.calls, strict=True)
            self.steps[:] = [replace(step, call=call) for step, call in pairs]
        else:
            self._keep_rest()

    def _keep_rest(self) -> None:
        """Put the calls that could not be kept earlier into the storage, together."""
        rest = [call for call in self.calls if id(call.projections) not in self._kept]
        kept = iter(self._storage.keep_all(rest))
        self.calls[:] = [
            call if id(call.projections) in self._kept else next(kept) for call in self.calls
        ]

    def _drop_overwritten(self) -> None:
        """Refuse the calls whose tensors the model changed after they were recorded."""
        is_whole = [all(state.holds() for state in states) for states in self._states]
        if not self._newest:
            pairs = zip(self.calls, self._states, strict=True)
            self.calls[:] = [
                owned(call) if is_uncounted(states) else call for call, states in pairs
            ]
        self._states.clear()
        for call, kept in zip(self.calls, is_whole, strict=True):
            if not kept:
                self.missing.add_named(call.module, OVERWRITTEN)
        if not all(is_whole):
            self.calls[:] = [call for call, kept in zip(self.calls, is_whole, strict=True) if kept]
            self._runs[:] = [run for run, kept in zip(self._runs, is_whole, strict=True) if kept]
            if self._newest:
                self.steps[:] = [s for s, kept in zip(self.steps, is_whole, strict=True) if kept]


def row_step(n_query: int) -> int:
    """The distance of the rows that are kept of what the model computed for so many queries."""
    return math.ceil(n_query / SAMPLED_ROWS) if n_query > MAX_WHOLE_ROWS else 1


@contextmanager
def record(model: nn.Module, *, thin: bool = False, grad: bool = False) -> Iterator[RecordedCalls]:
    """Record every attention call of `model` while the block runs.

    Parameters:

    - `model`: any module.
    - `thin`: keep only some rows of what the model computed for a long text, so that its memory can
      be used again while the model runs; q, k and v are kept whole.
    - `grad`: each call's `output` and its q, k and v are those of the graph, so that
      `torch.autograd.grad(number, call.output)` gives the slope of a number of the answer; a
      first-order estimate, not an effect.

    Returns to the block the list of its `AttentionCall`s in the order in which they ran. Attention
    that cannot be recorded does not stop the rest: `calls.missing` has its module and the reason:
    an argument of transformers' attention function that the steps do not model, dropout among
    them, weights that are changed after the softmax, and the like.

    Raises `UnsupportedAttention`, with the first of these reasons, if no attention at all was
    recorded, and with `grad` for a model with attention code of its own; `BadInput` for `grad`
    inside torch.no_grad().

    Example:

    >>> import torch
    >>> model = torch.nn.MultiheadAttention(embed_dim=8, num_heads=2, batch_first=True).eval()
    >>> x = torch.zeros(1, 5, 8)
    >>> with attnviz.record(model) as calls, torch.no_grad():
    ...     output, _ = model(x, x, x)
    >>> calls[0].weights().shape
    torch.Size([2, 5, 5])
    """
    with recording(model, thin=thin, grad=grad) as recorder:
        yield recorder.calls


@contextmanager
def recording(
    model: nn.Module,
    *,
    thin: bool = False,
    newest: bool = False,
    grad: bool = False,
    storage: Storage | None = None,
) -> Iterator[Recorder]:
    """The recorder of `model` while the block runs; `record` with the steps of writing kept too."""
    if isinstance(model, torch.jit.ScriptModule):
        raise _no_attention(model, SCRIPTED)
    # what torch.jit compiled takes no hooks; its operations are credited to the module around it
    every = modules_by_name(model)
    modules = every
    if every.fact(_compiled):
        modules = Modules({n: m for n, m in every.items() if n not in every.fact(_compiled)}, {})
    layers = layers_in_attention(modules)
    require_whole_heads(model, layers)
    own = modules if every.fact(may_have_own_code) else {}
    interface = interface_configs(modules)
    if not own and not interface:
        raise _no_attention(model, "has no attention that attnviz can record")
    named = {name: modules[name] for name in modules.fact(computing_attention)} if own else {}
    with ExitStack() as stack:
        stack.enter_context(alone(modules.values()))
        recorder = Recorder(modules, thin=thin, newest=newest, grad=grad, storage=storage)
        stack.callback(recorder.close)
        recorder.watch_modules(modules, layers)
        stack.enter_context(active.block(recorder))
        stack.enter_context(on_our_functions(modules.values(), interface))
        stack.enter_context(eagerly())
        watch = recorder.watch = _watch(stack, own, recorder) if own else None
        try:
            yield recorder
            if watch is not None:
                watch.finish()
        except BaseException:
            recorder.calls.clear()
            recorder.steps.clear()
            raise
    after = modules_by_name(model) if named else {}
    if any(after.get(name) is not module for name, module in named.items()):
        raise UnsupportedAttention(
            f"{type(model).__name__} exchanged its attention modules while it ran, as block-sparse"
            " models do for a short text; run it again",
            code="modules_changed",
            module=type(model).__name__,
        )
    recorder.finish()
    if watch is not None:
        recorder.missing.add_unseen(recorder.attended, watch.ran.values(), watch.chained.values())
    if not recorder.calls:
        raise recorder.missing.error() or _no_attention(model, NOTHING_RAN)


def _compiled(modules: Modules) -> set[str]:
    """The names of the modules that torch.jit compiled."""
    return {n for n, module in modules.items() if isinstance(module, torch.jit.ScriptModule)}


def _lists(modules: Modules) -> set[str]:
    return {name for name, module in modules.items() if isinstance(module, nn.ModuleList)}


def _watch(stack: ExitStack, modules: dict[str, nn.Module], recorder: Recorder) -> Watch:
    """A running watch of modules; the stack ends it."""
    stack.enter_context(fast_path.held())
    watch = Watch(modules, recorder.take_seen, recorder.missing.add, recorder.readers.take)
    stack.callback(watch.close)
    stack.enter_context(watch)
    return watch


def _no_attention(model: nn.Module, reason: str) -> UnsupportedAttention:
    name = type(model).__name__
    return UnsupportedAttention(f"{name} {reason}", code="no_attention", module=name)
