"""`noting`: a short pass of a model that was recorded before, and `noted_calls`: what it computed.

In: a loaded model, as for `recorder`. Out: a log of what ran inside a block, and the calls that the
recorder makes of it afterwards, the same as if it had recorded the pass while it ran.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from attnviz.attention.call import AttentionCall
from attnviz.capture.locate.modules import Modules, modules_by_name
from attnviz.capture.locate.own_code import asking_modules, interface_configs
from attnviz.capture.record.busy import alone
from attnviz.capture.record.interface import active, changing
from attnviz.capture.record.pass_log import PassLog, log_of
from attnviz.capture.record.recorder import Recorder
from attnviz.capture.record.switch import eagerly, on_our_functions
from attnviz.models.ranks import is_led


@contextmanager
def noting(model: nn.Module, n_token: int) -> Iterator[PassLog | None]:
    """The log of a pass with so many tokens while the block runs.

    None if it has to be recorded as it runs, or if it is changed.
    """
    modules = modules_by_name(model)
    attentions = [modules[name] for name in modules.fact(asking_modules)]
    with alone(attentions):  # whoever records a part with attention in it wants one of them
        log = None if changing.get() or is_led(model) else log_of(modules, n_token, active.get)
        if log is None:
            yield None
            return
        holders = (modules[name] for name in modules.fact(_with_config))
        configs = interface_configs(modules)
        with log.noting(), active.block(log), on_our_functions(holders, configs), eagerly():
            yield log


def _with_config(modules: Modules) -> list[str]:
    """The names of the modules that hold a config, the model's first."""
    return [name for name, module in modules.items() if not name or "config" in vars(module)]


def noted_calls(log: PassLog) -> tuple[AttentionCall, ...]:
    """The calls of a pass that was noted, as if they had been recorded while it ran."""
    log.require_unchanged()
    with torch.inference_mode(False), torch.no_grad():
        recorder = Recorder(log.names, noted=log.layers.keys())
        recorder.read(log)
        recorder.finish()
    return tuple(recorder.calls)
