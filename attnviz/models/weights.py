"""Checks that every weight of a model came from its files, and fits.

In: a model that was loaded, and what transformers reports about it; or a config, before anything is
allocated. Out: nothing, or an error that names a weight. A weight that is not in the files would be
drawn at random, and what is shown would say nothing about the model.
"""

import copy
import re
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from attnviz.errors import ModelNotFound
from attnviz.models import architecture, files
from attnviz.types import MIB

# used in training only
UNUSED = re.compile(r".*masked_spec_embed")
POOLER = re.compile(r"pooler\..*")
NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
# tied weights are stored once; converted ones in another form
MAX_TIMES, MAX_MORE = 2, 2**20
FLOAT = re.compile(r"B?F\d+.*")


def on_meta(config: PreTrainedConfig) -> nn.Module:
    """The model of a config without numbers: its modules, and tensors that have a shape only."""
    cls = architecture.class_for(config)
    config = copy.deepcopy(config)
    with torch.device("meta"):
        is_model = isinstance(cls, type) and issubclass(cls, PreTrainedModel)
        model: nn.Module = cls(config) if is_model else cls.from_config(config)
    return model


def require_memory(shell: nn.Module, name: str, dtype: torch.dtype) -> None:
    """Raise `TooLarge` if a model on the meta device would need more memory than the limit."""
    tensors = {id(tensor): tensor for tensor in (*shell.parameters(), *shell.buffers())}
    n_bytes = sum(
        tensor.numel() * (dtype.itemsize if tensor.is_floating_point() else tensor.itemsize)
        for tensor in tensors.values()
    )
    files.check_size(n_bytes // MIB, name)


def require_stored(shell: nn.Module, name: str, weights: Sequence[Path]) -> None:
    """Raise `ModelNotFound` if a model has many more numbers than its files, or other types."""
    stored = _stored(weights)
    wanted = sum(parameter.numel() for parameter in shell.parameters())
    if wanted > MAX_TIMES * sum(prod(shape) for shape, _ in stored.values()) + MAX_MORE:
        raise missing(name, sorted(dict(shell.named_parameters()).keys() - stored.keys()))
    numbers = dict(shell.named_parameters())
    for key, (_, type_) in stored.items():
        if key in numbers and numbers[key].is_floating_point() and not FLOAT.fullmatch(type_):
            raise ModelNotFound(
                f"the weight {key} of {name} is stored as {type_}, not as floating point numbers",
                code="weights_type",
                name=name,
                tensor=key,
                found=type_,
            )


def _stored(weights: Iterable[Path]) -> dict[str, tuple[list[int], str]]:
    """(shape, number type) of each tensor in safetensors files, from their headers."""
    stored = {}
    for file in weights:
        with safe_open(file, framework="numpy") as tensors:
            for key in tensors.keys():
                tensor = tensors.get_slice(key)
                stored[key] = tensor.get_shape(), str(tensor.get_dtype())
    return stored


def require_complete(model: PreTrainedModel, report: dict[str, Any], name: str) -> None:
    """Raise `ModelNotFound` unless the files held each weight of the model, in its shape.

    A pooler that was not stored is taken off: its result is not shown. Weights of another task that
    are stored besides are no fault; those of layers that the config leaves out are.
    """
    for key, found, wanted in sorted(report["mismatched_keys"]):
        raise ModelNotFound(
            f"the weight {key} of {name} has the shape {tuple(found)} in the file and"
            f" {tuple(wanted)} in the model that config.json describes",
            code="weights_shape",
            name=name,
            tensor=key,
            found=str(tuple(found)),
            wanted=str(tuple(wanted)),
        )
    absent = sorted(key for key in report["missing_keys"] if not UNUSED.fullmatch(key))
    if absent and all(map(POOLER.fullmatch, absent)):
        model.pooler = None  # type: ignore[assignment]
    elif absent:
        raise missing(name, absent)
    used = {NUMBER.sub("#", key) for key, _ in model.named_parameters()}
    surplus = [key for key in sorted(report["unexpected_keys"]) if _names(key) & used]
    if surplus:
        raise ModelNotFound(
            f"the files of {name} hold {listed(surplus)}, for which config.json has no place; the"
            " config probably belongs to another model",
            code="weights_surplus",
            name=name,
            tensor=surplus[0],
            more=len(surplus) - 1,
        )


def _names(key: str) -> set[str]:
    """A weight's name with # for its numbers, also without the prefix of its task."""
    name = NUMBER.sub("#", key)
    return {name, name.partition(".")[2]}


def missing(name: str, absent: Sequence[str]) -> ModelNotFound:
    """The error about weights that the files do not hold."""
    return ModelNotFound(
        f"the files of {name} lack the weight {listed(absent)}; attnviz does not replace weights by"
        " random numbers: copy or download the files again",
        code="weights_missing",
        name=name,
        tensor=absent[0],
        more=len(absent) - 1,
    )


def listed(names: Sequence[str]) -> str:
    """The first of some weights, and how many there are besides if there are any."""
    rest = len(names) - 1
    return f"{names[0]} and {rest} more" if rest else names[0]
