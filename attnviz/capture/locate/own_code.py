"""Which modules of a model compute attention with code of their own.

In: a model's modules. Out: those whose class multiplies and normalises by itself instead of asking
transformers' attention interface, told from the class's source, once per class. torch's own
attention modules are among them. What such a module does is watched by `fallback`.
"""

import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache

from torch import nn
from transformers import PreTrainedConfig

INTERFACE = "ALL_ATTENTION_FUNCTIONS"
NORMALISES = re.compile(r"softmax\(|scaled_dot_product_attention\(|multi_head_attention_forward\(")
MULTIPLIES = re.compile(r"matmul\(|bmm\(|einsum\(| @ |logsumexp\(")
IS_ATTENTION = re.compile(r"attention|attn", re.IGNORECASE)
TORCH_MODULES = (nn.MultiheadAttention,)


def own_code_modules(modules: Mapping[str, nn.Module]) -> dict[str, nn.Module]:
    """Those of a model's modules, by dotted name, that compute attention with their own code."""
    return {
        name: module
        for name, module in modules.items()
        if isinstance(module, TORCH_MODULES) or has_own_code(type(module))  # type: ignore[arg-type]  # torch's __hash__ stub
    }


@cache
def has_own_code(cls: type[nn.Module]) -> bool:
    """True for a class named after attention that multiplies or normalises by itself."""
    if not IS_ATTENTION.search(cls.__name__) or cls.__module__.startswith("torch."):
        return False
    source = _source(cls)
    if INTERFACE in source:
        return False
    return bool(NORMALISES.search(source) or MULTIPLIES.search(source))


def _source(cls: type) -> str:
    """The source of a class and of the classes it extends, as far as it can be had."""
    texts = []
    for base in cls.__mro__:
        if base in (nn.Module, object) or base.__module__.startswith("torch."):
            break
        try:
            texts.append(inspect.getsource(base))
        except (OSError, TypeError):
            continue
    return "\n".join(texts)


def interface_configs(modules: Mapping[str, nn.Module]) -> list[PreTrainedConfig]:
    """The configs of every module whose file uses the interface.

    `set_attn_implementation` misses sub-modules that keep a copy of a config.
    """
    configs = []
    for module in modules.values():
        file = sys.modules.get(type(module).__module__)
        config = vars(module).get("config")
        if INTERFACE in vars(file or object) and isinstance(config, PreTrainedConfig):
            configs.append(config)
    return configs
