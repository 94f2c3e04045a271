"""`record`: run a model inside a `with` block and keep every attention call that it makes.

In: any transformers model, or any module that holds `nn.MultiheadAttention`. Out: a list that is
complete when the block ends. Modules that use transformers' attention interface are recorded there;
those with attention code of their own are watched while they run. The model is put back as it was,
also after an error. One thread at a time records a model (`LoadedModel.lock`); the runs of other
threads are not mixed in, because the active recorder is a context variable.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.coarse_keys import SpatialWatch, where_coarse
from attnviz.capture.locate.own_code import interface_configs, own_code_modules
from attnviz.capture.locate.projections_by_memory import AwaitedOutput, LinearWatch
from attnviz.capture.locate.structure import kind_of
from attnviz.capture.record.fast_path import fast_path
from attnviz.capture.record.interface import active, is_recording
from attnviz.capture.record.runs import ModuleRun, RunCounter, with_layers
from attnviz.capture.record.steps import StepCall, newest_step, whole_step
from attnviz.capture.record.switch import switched
from attnviz.capture.record.trace import SeenAttention
from attnviz.capture.record.watch import Watch
from attnviz.errors import UnsupportedAttention
from attnviz.types import Kind

# up to this many queries, all that the model computed is kept to compare with; beyond, samples
MOST_WHOLE_ROWS = 512
SAMPLED_ROWS = 8
OWN_CODE = "the model computes attention with code of its own"
# the stages that are missing without each projection
STAGES_OF = {"q": ("q", "x"), "k": ("k",), "v": ("v",), "out": ("projected",)}


class Recorder:
    """Builds an `AttentionCall` from each call that is reported to it.

    With `thin`, only samples are kept of what the model computed for a long text. With `newest`,
    only the newest keys and values are kept of the forward passes after the first one.
    """

    def __init__(
        self,
        model: nn.Module,
        modules: Mapping[str, nn.Module],
        *,
        thin: bool = False,
        newest: bool = False,
    ) -> None:
        self.calls: list[AttentionCall] = []
        self.steps: list[StepCall] = []
        # the hooks hold this object and not the recorder, which would keep itself alive
        self.turn = object()
        self._thin, self._newest = thin, newest
        self._names = {id(module): name for name, module in modules.items()}
        self._runs: list[ModuleRun] = []
        is_active = partial(is_recording, self.turn)
        self._counter = RunCounter(model, is_active)
        self._linears = LinearWatch(modules, is_active)
        self._spatial = SpatialWatch(modules, is_active)

    def close(self) -> None:
        """Remove the hooks from the model."""
        for part in (self._counter, self._linears, self._spatial):
            part.close()

    def take(self, module: nn.Module, inputs: AttentionInputs, output: Tensor) -> None:
        """Keep one call of the attention interface."""
        self._add_with_projections(module, inputs, output)

    def take_seen(self, seen: SeenAttention) -> None:
        """Keep one attention of a module with code of its own.

        Raises `UnsupportedAttention` for a softmax that was not multiplied with values.
        """
        if seen.output is None:
            raise self._unknown(seen.module)
        if isinstance(seen.inputs, StoredWeights):
            absent = dict.fromkeys((stage for of in STAGES_OF.values() for stage in of), OWN_CODE)
            self._add(seen.module, seen.inputs, seen.output, {}, absent, seen.kind)
        elif seen.kind is not None:  # torch's own module, whose layers are known
            known = seen.projections, seen.absent
            self._add(seen.module, seen.inputs, seen.output, *known, seen.kind)
        else:
            self._add_with_projections(seen.module, seen.inputs, seen.output, by_value=True)

    def _unknown(self, module: nn.Module) -> UnsupportedAttention:
        name, form = self._name(module), type(module).__name__
        if module.training:
            return UnsupportedAttention(
                f"{name} ({form}) is in training mode, in which dropout changes the weights at"
                " random; call .eval() on the model first",
                code="training_mode",
                module=name,
            )
        return UnsupportedAttention(
            f"{name} ({form}) computes a softmax that multiplies no values: not attention over keys"
            " as the steps know it",
            code="unknown_attention",
            module=name,
        )

    def _add_with_projections(
        self, module: nn.Module, inputs: AttentionInputs, output: Tensor, *, by_value: bool = False
    ) -> None:
        """Keep a call with the linear layers before it and, as soon as that runs, behind it."""
        projections, absent = self._linears.makers(inputs.query, inputs.key, inputs.value)
        step = self._row_step(inputs.n_query)
        self._linears.await_output(AwaitedOutput(output, projections, absent, step, by_value))
        self._add(module, inputs, output, projections, absent)

    def _add(
        self,
        module: nn.Module,
        inputs: AttentionInputs | StoredWeights,
        output: Tensor,
        projections: dict[str, Projection],
        absent: dict[str, str],
        kind: Kind | None = None,
    ) -> None:
        name = self._name(module)
        coarser = self._spatial.take(name)
        sizes = inputs.n_batch, inputs.n_query, inputs.n_key
        query_places, key_places = self._spatial.places(coarser, *sizes)
        step = self._row_step(inputs.n_query)
        if step > 1:
            output = output[:, ::step].clone()
            for layer in list(projections):
                projections[layer] = projections[layer].thinned(step)
        call = AttentionCall(
            module=name,
            index=self._counter.next_call(name),
            layer=0,
            stack=None,
            kind=kind or kind_of(module, name, projections, coarser),
            inputs=inputs,
            output=output,
            projections=projections,
            absent=absent,
            row_step=step,
            query_places=query_places,
            key_places=key_places,
        )
        self._runs.append(self._counter.run_of(module, name))
        if self._newest:
            step_call = newest_step(call) if self._counter.n_pass > 1 else whole_step(call)
            self.steps.append(step_call)
            call = step_call.call
        self.calls.append(call)

    def _row_step(self, n_query: int) -> int:
        return row_step(n_query) if self._thin else 1

    def _name(self, module: nn.Module) -> str:
        return self._names.get(id(module)) or type(module).__name__

    def finish(self) -> None:
        """Take back wrong guesses, and number the layers of each stack and kind as they ran."""
        self._linears.settle()
        self.calls[:] = where_coarse(with_layers(self.calls, self._runs))
        if self._newest:
            pairs = zip(self.steps, self.calls, strict=True)
            self.steps[:] = [replace(step, call=call) for step, call in pairs]


def row_step(n_query: int) -> int:
    """The distance of the rows that are kept of what the model computed for so many queries."""
    return math.ceil(n_query / SAMPLED_ROWS) if n_query > MOST_WHOLE_ROWS else 1


@contextmanager
def record(model: nn.Module, *, thin: bool = False) -> Iterator[list[AttentionCall]]:
    """Record every attention call of `model` while the block runs.

    >>> with attnviz.record(model) as calls:    # doctest: +SKIP
    ...     model(**inputs)
    >>> calls[0].weights().shape                # doctest: +SKIP
    torch.Size([12, 9, 9])

    With `thin`, only some rows are kept of what the model computed for a long text, so that its
    memory can be used again while the model runs; q, k and v are kept whole.

    Raises `UnsupportedAttention` for an argument or a softmax that the steps do not model, for
    dropout, and if no attention at all was recorded.
    """
    with recording(model, thin=thin) as recorder:
        yield recorder.calls


@contextmanager
def recording(model: nn.Module, *, thin: bool = False, newest: bool = False) -> Iterator[Recorder]:
    """The recorder of `model` while the block runs; `record` with the steps of writing kept too."""
    modules = dict(model.named_modules())
    own, interface = own_code_modules(modules), interface_configs(modules)
    if not own and not interface:
        raise _no_attention(model, "has no attention that attnviz can record")
    with ExitStack() as stack:
        recorder = Recorder(model, modules, thin=thin, newest=newest)
        stack.callback(recorder.close)
        stack.callback(active.reset, active.set(recorder))
        stack.enter_context(switched(model, modules.values(), interface))
        if own:
            stack.enter_context(fast_path.off())
            watch = Watch(own, recorder.take_seen)
            stack.callback(watch.close)
            stack.enter_context(watch)
        try:
            yield recorder
        except BaseException:
            recorder.calls.clear()
            recorder.steps.clear()
            raise
    if own and own_code_modules(dict(model.named_modules())) != own:
        raise UnsupportedAttention(
            f"{type(model).__name__} exchanged its attention modules while it ran, as block-sparse"
            " models do for a short text; run it again",
            code="modules_changed",
            module=type(model).__name__,
        )
    if not recorder.calls:
        raise _no_attention(model, _why_nothing_ran(model))
    recorder.finish()


def _why_nothing_ran(model: nn.Module) -> str:
    if any(hasattr(module, "_orig_mod") for module in model.modules()):
        return (
            "is compiled by torch.compile, and compiled code does not ask for the attention"
            " function that is recorded; record its _orig_mod, and run that"
        )
    return "ran without one attention call that could be recorded"


def _no_attention(model: nn.Module, reason: str) -> UnsupportedAttention:
    name = type(model).__name__
    return UnsupportedAttention(f"{name} {reason}", code="no_attention", module=name)
