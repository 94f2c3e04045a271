"""The modules of a model that may compute attention with code of their own.

In: a model's modules. Out: whether any might: not if the source of every class shows that it asks
transformers' attention interface or computes no attention. `attnviz.capture.record.watch`
watches them while they run. What is watched is told by operations; source only says that a class
of transformers or torch need not be watched. A class without source is watched. What a watched
module computes is found by `_find_values` of `record/trace.py`; a module that is named after
attention and showed none is reported by `record/gaps.py`.
"""

import inspect
import re
import sys
from collections.abc import Iterable
from functools import cache

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from attnviz.capture.locate.modules import Modules

INTERFACE = "ALL_ATTENTION_FUNCTIONS"
# a class that only mentions the interface may get another function from it than the one set
ASKS = re.compile(r"ALL_ATTENTION_FUNCTIONS(\.get_interface\(|\[)")
NORMALISES = re.compile(
    r"softmax\(|scaled_dot_product_attention\(|multi_head_attention_forward\(|Softmax\(|logsumexp\("
)
MULTIPLIES = re.compile(r"matmul\(|bmm\(|einsum\(| @ ")
IS_ATTENTION = re.compile(r"attention|attn", re.IGNORECASE)
CLASS = re.compile(r"^class (\w+)\b", re.MULTILINE)
# where the text of a class at the top of a file ends
NEXT = re.compile(r"^[A-Za-z_@]", re.MULTILINE)
FUNCTION = re.compile(r"^def (\w+)\(.*?(?=^\S)", re.MULTILINE | re.DOTALL)
EAGER = re.compile(r"eager\w*_forward")
TORCHS_OWN = "torch.nn.modules."
TRANSFORMERS = "transformers."


def may_have_own_code(modules: Modules) -> bool:
    """True if some modules may compute attention with their own code."""
    return any(
        may_attend(type(module))  # type: ignore[arg-type]  # torch's __hash__ stub
        for module in modules.values()
    )


def named_attention(modules: Modules) -> list[str]:
    """The names of the modules whose class is named after attention."""
    return [name for name, module in modules.items() if is_attention(type(module))]


def computing_attention(modules: Modules) -> list[str]:
    """The names of the modules of such a class that compute by themselves."""
    return [name for name, module in modules.items() if is_named_attention(module)]


def asking_modules(modules: Modules) -> list[str]:
    """The names of the modules that call the attention function that transformers was told of."""
    return [name for name, module in modules.items() if _asks(type(module))]  # type: ignore[arg-type]  # torch's __hash__ stub


def is_attention(cls: type[nn.Module]) -> bool:
    """True if a class is named after attention."""
    return _says_attention(cls.__name__)


@cache
def _says_attention(name: str) -> bool:
    return bool(IS_ATTENTION.search(name))


def is_named_attention(module: nn.Module) -> bool:
    """True if a module's class is named after attention and computes by itself."""
    return _is_named(type(module))  # type: ignore[arg-type]  # torch's __hash__ stub


@cache
def _is_named(cls: type[nn.Module]) -> bool:
    if not is_attention(cls) or cls.__module__.startswith(TORCHS_OWN):
        return False
    source = _source(cls)
    computes = NORMALISES.search(source) or MULTIPLIES.search(source)
    return INTERFACE not in source and bool(computes)


@cache
def _asks(cls: type[nn.Module]) -> bool:
    return INTERFACE in vars(sys.modules.get(cls.__module__, object)) and bool(
        ASKS.search(_source(cls))
    )


@cache
def may_attend(cls: type[nn.Module]) -> bool:
    """True unless a class of torch or transformers computes no attention with its own code."""
    if cls.__module__.startswith(TORCHS_OWN):
        return issubclass(cls, nn.MultiheadAttention)
    if not cls.__module__.startswith(TRANSFORMERS):
        return True
    source = _source(cls)
    if not ASKS.search(source) and (INTERFACE in source or NORMALISES.search(source)):
        return True
    return _is_named(cls) or not source or _has_helper(cls.__module__)  # type: ignore[arg-type]  # torch's __hash__ stub


@cache
def _has_helper(file: str) -> bool:
    """True if a function of a file, other than its eager attention, normalises."""
    source = _file_source(file)
    if source is None:
        return file in sys.modules
    return any(
        NORMALISES.search(match.group(0)) and not EAGER.fullmatch(match.group(1))
        for match in FUNCTION.finditer(source + "\n#")
    )


@cache
def _file_source(file: str) -> str | None:
    """The text of an imported module; None if it is not available."""
    try:
        return inspect.getsource(sys.modules[file])
    except (KeyError, OSError, TypeError):
        return None


@cache
def _classes_of(file: str) -> dict[str, str]:
    """The text of each class at the top of a module's file, read once.

    `inspect.getsource` parses the whole file again for every class: seconds for a large model.
    """
    source = _file_source(file) or ""
    texts = {}
    for match in CLASS.finditer(source):
        end = NEXT.search(source, match.end())
        texts[match.group(1)] = source[match.start() : end.start() if end else None]
    return texts


def _source(cls: type) -> str:
    """The source of a class and of the classes it extends, as far as it is available.

    Without that of all of transformers' models, which names the interface and computes nothing.
    """
    texts = []
    for base in cls.__mro__:
        if base in (nn.Module, PreTrainedModel, object) or base.__module__.startswith("torch."):
            break
        known = _classes_of(base.__module__).get(base.__qualname__)
        texts += [known] if known is not None else _nested_source(base)
    return "\n".join(texts)


def _nested_source(cls: type) -> list[str]:
    """The source of a class inside a function or another class, if it is available."""
    try:
        return [inspect.getsource(cls)]
    except (OSError, TypeError):
        return []


def interface_configs(modules: Modules) -> list[PreTrainedConfig]:
    """The configs of all modules whose file uses the interface.

    They are needed one by one: `set_attn_implementation` misses sub-modules with a copied config.
    """
    asking = [modules[name] for name in modules.fact(_in_files_that_ask)]
    configs = {id(config): config for config in held_configs(asking)}
    return [config for config in configs.values() if isinstance(config, PreTrainedConfig)]


def held_configs(modules: Iterable[nn.Module]) -> list[object]:
    """The configs that modules hold themselves, one by one.

    Without a call for each of them, since every recording asks all modules.
    """
    return [held["config"] for module in modules if "config" in (held := module.__dict__)]


def _in_files_that_ask(modules: Modules) -> list[str]:
    """The names of the modules whose file asks for the attention interface."""

    def asks(module: nn.Module) -> bool:
        return INTERFACE in vars(sys.modules.get(type(module).__module__) or object)

    return [name for name, module in modules.items() if asks(module)]
