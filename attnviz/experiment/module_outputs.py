"""The outputs of a pass without changes before each attention call: these modules need not run.

In: a prepared input. Out: for each call, the outermost modules that had ended before attention
computed there, with their outputs: the blocks of earlier layers, and of its own layer what makes
q, k and v. While changed rows run, these modules answer with what is known, spread over the rows.
A module runs again if its output was written over afterwards, or if it or a part of it ran
elsewhere in the pass too: changes are placed by counting the runs of a module.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.changed.changer import CallPlace, Changer
from attnviz.capture.changed.layout import CallSite
from attnviz.capture.changed.run import attention_watched
from attnviz.experiment.clean_run import CleanRun

Outputs = Mapping[str, object]


@dataclass(frozen=True, eq=False)
class Finished:
    """The outputs of modules by name, for each attention call in the order of the pass."""

    before: Mapping[CallPlace, Outputs]

    def before_first(self, calls: Sequence[CallSite]) -> Outputs:
        """The modules that had ended before the first of some calls; none for an unknown call."""
        order = list(self.before)
        places = {call.place for call in calls}
        if not places <= self.before.keys():
            return {}
        return self.before[min(places, key=order.index)]


NOTHING = Finished({})


def finished(prepared: CleanRun, calls: Sequence[CallSite]) -> Finished:
    """One pass without changes, in which the output of each module is kept.

    It has two rows: an output of two equal rows has the batch as its first axis, one of a single
    row is a table that all rows share, and any other is computed again.
    """
    lm = prepared.lm
    own_code = {call.place.module for call in calls if call.only_weights}
    with lm.lock:  # another thread's pass would be kept, too
        with torch.no_grad(), attention_watched(lm.model, _Watch) as watch:
            handles = watch.attach(dict(lm.model.named_modules()), own_code)
            try:
                lm.model(**prepared.repeated(2), **prepared.options)
            finally:
                for handle in handles:
                    handle.remove()
    return Finished(watch.usable())


@dataclass(frozen=True, eq=False)
class _Output:
    """The output of a module, and how often its tensors had been written to by then.

    `ran` are the names of all modules that ran for it, its own first.
    """

    module: str
    value: object
    versions: tuple[int, ...]
    ran: tuple[str, ...]

    @property
    def is_intact(self) -> bool:
        """True if no operation wrote into the output afterwards."""
        return self.versions == _versions(self.value)


class _Watch:
    """The outermost modules that have ended, as a pass goes on, and those at each attention call.

    `_begun` has, for each module that runs now, how many modules had ended and how many had begun
    before it.
    """

    def __init__(self, changer: Changer) -> None:
        self._changer = changer
        self._ended: list[_Output] = []
        self._begun: list[tuple[int, int]] = []
        self._ran: list[str] = []
        self._before: dict[CallPlace, tuple[_Output, ...]] = {}

    def attach(self, modules: Mapping[str, nn.Module], own_code: set[str]) -> list[Any]:
        """Watch these modules begin and end; returns the handles of the hooks."""
        handles: list[Any] = []
        for name, module in modules.items():
            handles.append(module.register_forward_pre_hook(self._begin(name, name in own_code)))
            handles.append(module.register_forward_hook(self._end(name)))
        return handles

    def change(
        self, module: nn.Module, inputs: AttentionInputs, output: Tensor
    ) -> tuple[AttentionInputs, Tensor]:
        """Note which modules have ended at a call of the attention function; change nothing."""
        self._before[self._changer.place(module)] = tuple(self._ended)
        return inputs, output

    def usable(self) -> dict[CallPlace, Outputs]:
        """The outputs that may answer in the place of their modules, before each call."""
        runs = Counter(self._ran)
        distinct = {output for outputs in self._before.values() for output in outputs}
        usable = {
            output
            for output in distinct
            if output.is_intact
            and all(runs[name] == n for name, n in Counter(output.ran).items())
            and output.ran.count(output.module) == 1
        }
        return {
            place: {output.module: output.value for output in outputs if output in usable}
            for place, outputs in self._before.items()
        }

    def _begin(self, name: str, is_own_code: bool) -> Callable[[nn.Module, Any], None]:
        def begin(_module: nn.Module, _args: Any) -> None:
            if is_own_code:  # it has no call of the attention function: all before it is known
                self._before[CallPlace(name, self._ran.count(name))] = tuple(self._ended)
            self._begun.append((len(self._ended), len(self._ran)))
            self._ran.append(name)

        return begin

    def _end(self, name: str) -> Callable[[nn.Module, Any, object], None]:
        def end(_module: nn.Module, _args: Any, output: object) -> None:
            n_ended, n_ran = self._begun.pop()
            if _can_be_spread(output):  # it stands for the modules inside it
                del self._ended[n_ended:]
                ran = tuple(self._ran[n_ran:])
                self._ended.append(_Output(name, output, _versions(output), ran))

        return end


def _can_be_spread(output: object) -> bool:
    """True for tensors of two equal rows or of one, alone or in plain tuples and lists."""
    if isinstance(output, Tensor):
        if output.dim() == 0 or output.is_inference() or output.shape[0] > 2:
            return False
        return output.shape[0] == 1 or torch.equal(output[0], output[1])
    if isinstance(output, tuple | list) and not hasattr(output, "_fields"):
        return all(_can_be_spread(part) for part in output)
    return output is None or isinstance(output, int | float | str)


def _versions(output: object) -> tuple[int, ...]:
    if isinstance(output, Tensor):
        return (output._version,)
    if isinstance(output, tuple | list):
        return tuple(version for part in output for version in _versions(part))
    return ()


def _spread_out(output: object, n: int) -> object:
    if isinstance(output, Tensor):
        return output[:1].expand(n, *output.shape[1:]) if output.shape[0] == 2 else output
    if isinstance(output, tuple | list):
        return type(output)(_spread_out(part, n) for part in output)
    return output


@contextmanager
def answered(model: nn.Module, known: Outputs, n: int) -> Iterator[None]:
    """While the block runs, these modules answer this thread with what is known, in n rows.

    The answer stands on the module itself: only the caller that holds the model's lock may do this.
    Another thread that runs the model without it, and what stood there before, are left alone.
    """
    modules = dict(model.named_modules()) if known else {}
    stood: list[tuple[nn.Module, Any]] = []
    try:
        for name, output in known.items():
            module = modules[name]
            stood.append((module, module.__dict__.get("forward")))
            module.forward = _answering(module, _spread_out(output, n))
        yield
    finally:
        for module, forward in stood:
            if forward is None:
                del module.forward
            else:
                module.forward = forward


def _answering(module: nn.Module, known: object) -> Callable[..., object]:
    forward, thread = module.forward, threading.get_ident()

    def answer(*args: Any, **kwargs: Any) -> object:
        return known if threading.get_ident() == thread else forward(*args, **kwargs)

    return answer
