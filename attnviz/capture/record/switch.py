"""Switches models to attnviz's attention functions, and puts everything back as it was.

In: the modules of any model and the configs of those that use the interface. Each of them is set,
since sub-modules may keep a copy; `set_attn_implementation` is called first for a transformers
model with other configs too, wherever it stands: alone, inside a user's module, or only a part of
it. What torch.compile compiled runs as it was written. Afterwards every config gets its own former
value back, also after an error.
"""

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from attnviz.capture.locate.modules import modules_by_name
from attnviz.capture.locate.own_code import held_configs, interface_configs
from attnviz.capture.record.interface import (
    NAME,
    NAME_EAGER,
    active,
    changing,
    name_for,
    register,
)
from attnviz.models.process_setting import ProcessSetting
from attnviz.models.ranks import Watching, set_watching

EAGER = "eager"
_log = logging.getLogger("transformers.modeling_utils")
# it warns of classes that it cannot switch; those are watched
_only_errors = ProcessSetting(logging.ERROR, lambda: _log.level, _log.setLevel)


@contextmanager
def on_our_functions(
    modules: Iterable[nn.Module], interface: list[PreTrainedConfig]
) -> Iterator[None]:
    """While the block runs, modules whose configs are in `interface` call attnviz's functions.

    A transformers model without such configs runs eagerly: that is the plain form of its own code.
    """
    all_modules = list(modules)
    before = _implementations(all_modules)
    known = {id(config) for config in interface}
    try:
        register()
        for model, parts in _outermost(all_modules):
            configs = before if parts is all_modules else _implementations(parts)
            name = name_for(model) if any(id(c) in known for c, _ in configs) else EAGER
            if any(id(config) not in known for config, _ in configs):
                with _only_errors.held():
                    model.set_attn_implementation(name)
            _set(configs, known, name)
            known -= {id(config) for config, _ in configs}
        for module in all_modules if known else ():  # parts of models
            config = vars(module).get("config")
            if isinstance(config, PreTrainedConfig) and id(config) in known:
                _set([(config, None)], known, _name_for_part(module))
        yield
    finally:
        for config, implementation in before:
            config._attn_implementation_internal = implementation


@contextmanager
def eagerly() -> Iterator[None]:
    """While the block runs, compiled functions run as they were written."""
    if "torch._dynamo" not in sys.modules:
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield


def _outermost(modules: list[nn.Module]) -> list[tuple[PreTrainedModel, list[nn.Module]]]:
    """The transformers models that are not parts of one another, with all their modules."""
    if modules and isinstance(modules[0], PreTrainedModel):
        return [(modules[0], modules)]
    models: list[tuple[PreTrainedModel, list[nn.Module]]] = []
    inside: set[int] = set()
    for module in modules:  # from the outside to the inside
        if isinstance(module, PreTrainedModel) and id(module) not in inside:
            models.append((module, list(module.modules())))
            inside.update(map(id, module.modules()))
    return models


def _name_for_part(module: nn.Module) -> str:
    """The name for a module without its model: that of the models in its file."""
    file = vars(sys.modules[type(module).__module__])
    classes = [
        cls
        for cls in file.values()
        if isinstance(cls, type) and issubclass(cls, PreTrainedModel) and cls is not PreTrainedModel
    ]
    return NAME if any(cls._supports_sdpa for cls in classes) else NAME_EAGER


def _set(
    configs: list[tuple[PreTrainedConfig, str | None]], interface: set[int], name: str
) -> None:
    for config, _ in configs:
        if id(config) in interface:
            config._attn_implementation_internal = name


def _implementations(modules: Iterable[nn.Module]) -> list[tuple[PreTrainedConfig, str | None]]:
    """Every config of a model's modules, sub-configs included, with its current implementation."""
    configs: dict[int, PreTrainedConfig] = {}
    waiting: list[object] = list({id(one): one for one in held_configs(modules)}.values())
    while waiting:
        config = waiting.pop()
        if isinstance(config, PreTrainedConfig) and id(config) not in configs:
            configs[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return [(config, config._attn_implementation_internal) for config in configs.values()]


@contextmanager
def _followed(model: nn.Module) -> Iterator[None]:
    """The way in which a recorded pass runs, on a process that only follows it."""
    modules = modules_by_name(model)
    with on_our_functions(modules.values(), interface_configs(modules)), eagerly():
        yield


def _is_watched() -> bool:
    return active.get() is not None or changing.get() is not None


set_watching(Watching(_is_watched, _followed))
