"""The modules of a model that compute attention with code of their own.

In: a model's modules. Out: those whose class multiplies and normalises by itself instead of calling
transformers' attention interface, told by the class's source, once for each class. torch's own
attention modules are among them. `attnviz.capture.record.watch` watches them while they run.
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
    """The modules that compute attention with their own code, by dotted name."""
    return {
        name: module
        for name, module in modules.items()
        if isinstance(module, TORCH_MODULES) or has_own_code(type(module))  # type: ignore[arg-type]  # torch's __hash__ stub
    }


@cache
def has_own_code(cls: type[nn.Module]) -> bool:
    """True for a class named after attention whose source multiplies or normalises by itself."""
    if not IS_ATTENTION.search(cls.__name__) or cls.__module__.startswith("torch."):
        return False
    source = _source(cls)
    if INTERFACE in source:
        return False
    return bool(NORMALISES.search(source) or MULTIPLIES.search(source))


def _source(cls: type) -> str:
    """The source of a class and of the classes it extends, as far as it is available."""
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
    """The configs of all modules whose file uses the interface.

    They are needed one by one: `set_attn_implementation` misses sub-modules with a copied config.
    """
    configs = []
    for module in modules.values():
        file = sys.modules.get(type(module).__module__)
        config = vars(module).get("config")
        if INTERFACE in vars(file or object) and isinstance(config, PreTrainedConfig):
            configs.append(config)
    return configs
