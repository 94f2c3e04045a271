"""`record`: run a model inside a `with` block and keep every attention call it makes.

In: any transformers model, or any module that holds `nn.MultiheadAttention`. Out: a list that is
complete when the block ends. Modules that use transformers' attention interface are recorded there;
those with attention code of their own are watched while they run. The model is put back as it was,
whatever happens inside. One thread records a model at a time (`LoadedModel.lock`); what other
threads run meanwhile is not mixed in, because the active recorder is a context variable.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from torch import Tensor, nn

from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.projection import Projection
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.coarse_keys import SpatialWatch, where_coarse
from attnviz.capture.locate.own_code import interface_configs, own_code_modules
from attnviz.capture.locate.projections_by_memory import LinearWatch
from attnviz.capture.locate.structure import kind_of, stacks
from attnviz.capture.record.interface import active
from attnviz.capture.record.switch import switched
from attnviz.capture.record.watch import Seen, Watch, fast_path
from attnviz.errors import UnsupportedAttention
from attnviz.types import Kind

# up to this many queries, all that the model made is kept to compare with; beyond, every n-th row
WHOLE_WITNESS = 512
WITNESS_ROWS = 8
OWN_CODE = "the model computes attention with code of its own"


@dataclass(frozen=True)
class Run:
    """Which run of a module a call belongs to: the n-th within one forward of the whole model."""

    module: str
    repeat: int


class Recorder:
    """Builds an `AttentionCall` from each call that is reported to it."""

    def __init__(self, model: nn.Module, modules: Mapping[str, nn.Module], thin: bool) -> None:
        self.calls: list[AttentionCall] = []
        self._thin = thin
        self._runs: list[Run] = []
        self._repeats: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._names = {id(module): name for name, module in modules.items()}
        self._linears = LinearWatch(modules, is_active=lambda: active.get() is self)
        self._spatial = SpatialWatch(modules, is_active=lambda: active.get() is self)
        self._handles = [model.register_forward_pre_hook(self._start_pass)]

    def close(self) -> None:
        """Take the hooks off the model."""
        self._linears.close()
        self._spatial.close()
        for handle in self._handles:
            handle.remove()

    def _start_pass(self, _module: nn.Module, _args: object) -> None:
        self._linears.settle()
        self._repeats = dict.fromkeys(self._repeats, -1)

    def _count_runs_of(self, module: nn.Module, name: str) -> None:
        def again(_module: nn.Module, _args: object) -> None:
            self._repeats[name] += 1

        self._repeats[name] = 0
        self._handles.append(module.register_forward_pre_hook(again))

    def take(self, module: nn.Module, inputs: AttentionInputs, output: Tensor) -> None:
        """Keep one call of the attention interface."""
        projections, absent = self._linears.makers(inputs.query, inputs.key, inputs.value)
        step = row_step(inputs.n_query) if self._thin else 1
        self._linears.await_output(output, projections, absent, step)
        self._add(module, inputs, output, projections, absent)

    def take_seen(self, seen: Seen) -> None:
        """Keep what was seen of a module with attention code of its own."""
        found = seen.found
        if isinstance(found, StoredWeights) and seen.output is None:
            name = self._name(seen.module)
            raise UnsupportedAttention(
                f"{name} ({type(seen.module).__name__}) computes a softmax that multiplies no"
                " values: not attention over keys as the steps know it",
                code="unknown_attention",
                module=name,
            )
        projections, absent = seen.projections, seen.absent
        if isinstance(found, StoredWeights):
            absent = {"projected": OWN_CODE}
        elif not isinstance(seen.module, nn.MultiheadAttention):
            projections, absent = self._linears.makers(found.query, found.key, found.value)
        assert seen.output is not None
        self._add(seen.module, found, seen.output, projections, absent, seen.kind)

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
        if name not in self._repeats:
            self._count_runs_of(module, name)
        index = self._counts.get(name, 0)
        self._counts[name] = index + 1
        self._runs.append(Run(name, max(self._repeats[name], 0)))
        coarser = self._spatial.take(name)
        kind = kind or kind_of(module, name, projections, coarser)
        sizes = inputs.n_batch, inputs.n_query, inputs.n_key
        query_places, key_places = self._spatial.places(coarser, *sizes)
        step = row_step(inputs.n_query) if self._thin else 1
        if step > 1:
            output = output[:, ::step].clone()
            for layer in list(projections):
                projections[layer] = projections[layer].thinned(step)
        self.calls.append(
            AttentionCall(
                module=name,
                index=index,
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
        )

    def _name(self, module: nn.Module) -> str:
        return self._names.get(id(module)) or type(module).__name__

    def finish(self) -> None:
        """Settle what was guessed; number the layers of each stack and kind as they first ran."""
        self._linears.settle()
        of_module = stacks(dict.fromkeys(call.module for call in self.calls))
        layers: dict[tuple[object, str], dict[Run, int]] = {}
        for position, (call, run) in enumerate(zip(self.calls, self._runs, strict=True)):
            stack = of_module[call.module]
            numbers = layers.setdefault((stack, call.kind), {})
            layer = numbers.setdefault(run, len(numbers))
            self.calls[position] = replace(call, stack=stack, layer=layer)
        self.calls[:] = where_coarse(self.calls)


def row_step(n_query: int) -> int:
    """Which rows of what the model made are kept to compare with: every n-th."""
    return math.ceil(n_query / WITNESS_ROWS) if n_query > WHOLE_WITNESS else 1


@contextmanager
def record(model: nn.Module, *, thin: bool = False) -> Iterator[list[AttentionCall]]:
    """Record every attention call of `model` while the block runs.

    >>> with attnviz.record(model) as calls:    # doctest: +SKIP
    ...     model(**inputs)
    >>> calls[0].weights().shape                # doctest: +SKIP
    torch.Size([12, 9, 9])

    `thin` keeps only some rows of what the model made of a long text, so that its memory can be
    used again while the model runs; q, k and v stay whole.

    Raises `UnsupportedAttention` for an argument or a softmax that the steps do not model, for a
    watched module that ran unseen, and when no attention at all was recorded.
    """
    modules = dict(model.named_modules())
    own, interface = own_code_modules(modules), interface_configs(modules)
    if not own and not interface:
        raise _no_attention(model, "has no attention that attnviz knows how to record")
    with ExitStack() as stack:
        recorder = Recorder(model, modules, thin)
        stack.callback(recorder.close)
        token = active.set(recorder)
        stack.callback(active.reset, token)
        stack.enter_context(switched(model, modules.values(), interface))
        if own:
            stack.enter_context(fast_path.off())
            watch = Watch(own, recorder.take_seen)
            stack.callback(watch.close)
            stack.enter_context(watch)
        try:
            yield recorder.calls
        except BaseException:
            recorder.calls.clear()
            raise
    if own and own_code_modules(dict(model.named_modules())) != own:
        raise UnsupportedAttention(
            f"{type(model).__name__} exchanged its attention modules while it ran, as block-sparse"
            " models do for a short text; run it again",
            code="modules_changed",
            module=type(model).__name__,
        )
    if not recorder.calls:
        raise _no_attention(model, "ran without one attention call that could be recorded")
    recorder.finish()


def _no_attention(model: nn.Module, what: str) -> UnsupportedAttention:
    name = type(model).__name__
    return UnsupportedAttention(f"{name} {what}", code="no_attention", module=name)
