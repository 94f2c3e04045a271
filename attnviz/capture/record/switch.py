"""Switches a model to attnviz's attention functions, and puts everything back as it was.

In: a model and the configs of the modules that use the interface. Each of them is set, since
sub-modules may keep a copy; `set_attn_implementation` is called first if the model has other
configs too. Afterwards every config gets its own former value back, also after an error.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from attnviz.capture.record.interface import name_for, register

EAGER = "eager"


@contextmanager
def switched(
    model: nn.Module, modules: Iterable[nn.Module], interface: list[PreTrainedConfig]
) -> Iterator[None]:
    """While the block runs, modules whose configs are in `interface` call attnviz's functions.

    A transformers model without such configs runs eagerly: that is the plain form of its own code.
    """
    before = _implementations(modules)
    try:
        if isinstance(model, PreTrainedModel):
            register()
            name = name_for(model) if interface else EAGER
            if not _all_in(interface, before):
                _switch(model, name)
            for config in interface:
                config._attn_implementation_internal = name
        yield
    finally:
        for config, implementation in before:
            config._attn_implementation_internal = implementation


def _all_in(
    interface: list[PreTrainedConfig], configs: list[tuple[PreTrainedConfig, str | None]]
) -> bool:
    """True if every config of a model is one of those that are set one by one anyway."""
    known = {id(config) for config in interface}
    return all(id(config) in known for config, _ in configs)


def _switch(model: PreTrainedModel, name: str) -> None:
    log = logging.getLogger("transformers.modeling_utils")
    level = log.level
    log.setLevel(logging.ERROR)  # it warns of classes that it cannot switch; those are watched
    try:
        model.set_attn_implementation(name)
    finally:
        log.setLevel(level)


def _implementations(modules: Iterable[nn.Module]) -> list[tuple[PreTrainedConfig, str | None]]:
    """Every config of a model's modules, sub-configs included, with its current implementation."""
    configs: dict[int, PreTrainedConfig] = {}
    waiting = [vars(module).get("config") for module in modules]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PreTrainedConfig) and id(config) not in configs:
            configs[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return [(config, config._attn_implementation_internal) for config in configs.values()]
