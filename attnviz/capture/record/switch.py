"""Switch a model to attnviz's attention functions, and put everything back as it was.

Each config of a module that uses the interface is set by itself, since sub-modules may keep a copy;
`set_attn_implementation` goes first where the model has other configs too. What is put back is each
config's own former value, whatever happened in between.
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

    A transformers model without any is run eagerly: its own code is then the plain one.
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
    """True when every config of a model is one of those that are set one by one anyway."""
    known = {id(config) for config in interface}
    return all(id(config) in known for config, _ in configs)


def _switch(model: PreTrainedModel, name: str) -> None:
    log = logging.getLogger("transformers.modeling_utils")
    level = log.level
    log.setLevel(logging.ERROR)  # it warns of classes that it cannot switch; we watch these
    try:
        model.set_attn_implementation(name)
    finally:
        log.setLevel(level)


def _implementations(modules: Iterable[nn.Module]) -> list[tuple[PreTrainedConfig, str | None]]:
    """Every config of a model's modules, sub-configs included, with its current implementation."""
    found: dict[int, PreTrainedConfig] = {}
    waiting = [vars(module).get("config") for module in modules]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PreTrainedConfig) and id(config) not in found:
            found[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return [(config, config._attn_implementation_internal) for config in found.values()]
