"""`noting`: a short pass of a model that was recorded before, and `noted_calls`: what it computed.

In: a loaded model, as for `recorder`. Out: a log of what ran inside a block, and the calls that the
recorder makes of it afterwards, the same as if it had recorded the pass while it ran.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from attnviz.attention.call import AttentionCall
from attnviz.capture.locate.modules import modules_by_name
from attnviz.capture.locate.own_code import interface_configs
from attnviz.capture.record.busy import alone
from attnviz.capture.record.interface import active, changing
from attnviz.capture.record.pass_log import PassLog, log_of
from attnviz.capture.record.recorder import Recorder
from attnviz.capture.record.switch import eagerly, switched
from attnviz.models.ranks import is_led


@contextmanager
def noting(model: nn.Module, n_token: int) -> Iterator[PassLog | None]:
    """The log of a pass with so many tokens while the block runs.

    None if it has to be recorded as it runs, or if it is changed.
    """
    modules = modules_by_name(model)
    with alone(modules.values()):
        log = None if changing.get() or is_led(model) else log_of(modules, n_token)
        if log is None:
            yield None
            return
        configs = interface_configs(modules)
        with (
            log.noting(active.get),
            active.block(log),
            switched(modules.values(), configs),
            eagerly(),
        ):
            yield log


def noted_calls(log: PassLog) -> tuple[AttentionCall, ...]:
    """The calls of a pass that was noted, as if they had been recorded while it ran."""
    log.require_unchanged()
    with torch.inference_mode(False), torch.no_grad():
        recorder = Recorder(log.names, noted=log.weights.keys())
        recorder.read(log)
        recorder.finish()
    return tuple(recorder.calls)
