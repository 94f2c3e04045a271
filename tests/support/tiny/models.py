"""A tiny model of any type with peaky random weights, and the same one with eager attention.

Weights of std 1.3/√fan_in make the attention patterns of heads and rows differ, so that a mistake
in a mask, a head or a scale shows. Nothing is loaded: the config is all there is.
"""

import copy
import importlib
import inspect
import math
import random
from typing import Any

import numpy as np
import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto
from transformers.pytorch_utils import Conv1D

from tests.support.tiny.special import MODEL_CLASSES

SEED = 11
MAX_PARAMETERS = 60_000_000


class NotBuilt(Exception):
    """This type cannot be made tiny or cannot run here; the message says why."""


def set_seed() -> None:
    """The same random numbers for every run: some models draw masks or noise in their forward."""
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)


def model_class(model_type: str, config: PreTrainedConfig) -> type[PreTrainedModel]:
    """The base model's class: from the auto classes, else from the file beside the config's."""
    name = MODEL_CLASSES.get(model_type) or _auto_name(model_type)
    found = getattr(transformers, name, None) if name else None
    if found is None:
        found = _class_beside(config, name)
    if found is None:
        raise NotBuilt(f"no model class takes {type(config).__name__}")
    return found


def _auto_name(model_type: str) -> str | None:
    tables = [modeling_auto.MODEL_MAPPING_NAMES]
    tables += [
        getattr(modeling_auto, name)
        for name in dir(modeling_auto)
        if name.startswith("MODEL_FOR_") and name.endswith("_MAPPING_NAMES")
    ]
    for table in tables:
        if model_type in table:
            name = table[model_type]
            return name if isinstance(name, str) else name[0]
    return None


def _class_beside(config: PreTrainedConfig, name: str | None) -> type[PreTrainedModel] | None:
    """The model in the config's own folder that takes this config, the shortest name first."""
    module_name = type(config).__module__.replace(".configuration_", ".modeling_")
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        return None
    if name and hasattr(module, name):
        return getattr(module, name)
    fitting = [
        found
        for _, found in inspect.getmembers(module, inspect.isclass)
        if issubclass(found, PreTrainedModel)
        and found.config_class is type(config)
        and "forward" in vars(found)
        and found.__module__ == module_name
    ]
    return min(fitting, key=lambda found: (len(found.__name__), found.__name__), default=None)


def build(model_type: str, config: PreTrainedConfig) -> tuple[PreTrainedModel, PreTrainedModel]:
    """(a model as transformers would give it, the same weights with eager attention)."""
    found = model_class(model_type, config)
    with torch.device("meta"):
        size = sum(one.numel() for one in found(copy.deepcopy(config)).parameters())
    if size > MAX_PARAMETERS:
        raise NotBuilt(f"{size / 1e6:.0f} million parameters: not tiny")
    model = _instance(found, config, None)
    make_peaky(model)
    eager = _instance(found, config, "eager")
    _copy_weights(model, eager)
    use_eager(eager)
    return model, eager


def _instance(
    found: type[PreTrainedModel], config: PreTrainedConfig, attention: str | None
) -> PreTrainedModel:
    set_seed()
    given: dict[str, Any] = {"attn_implementation": attention} if attention else {}
    model = found._from_config(copy.deepcopy(config), dtype=torch.float32, **given)
    return model.eval()


def use_eager(model: PreTrainedModel) -> None:
    """Eager attention in every part, those with a config copy of their own included."""
    for module in model.modules():
        config = getattr(module, "config", None)
        if isinstance(config, PreTrainedConfig):
            config._attn_implementation_internal = "eager"


def _copy_weights(source: nn.Module, target: nn.Module) -> None:
    with torch.no_grad():
        tensors = dict(target.named_parameters()) | dict(target.named_buffers())
        for name, tensor in (*source.named_parameters(), *source.named_buffers()):
            if name in tensors and tensors[name].shape == tensor.shape:
                tensors[name].copy_(tensor)


def make_peaky(model: nn.Module) -> None:
    """Random weights of std 1.3/√fan_in, embeddings of std 1, small biases; norms stay."""
    set_seed()
    with torch.no_grad():
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                if parameter.dim() >= 2:
                    parameter.normal_(std=_std(module, parameter))
                elif "sink" in name or not bool(torch.isfinite(parameter).all()):
                    parameter.normal_()
                elif name.endswith("bias"):
                    parameter.normal_(std=0.1)


def _std(module: nn.Module, parameter: torch.Tensor) -> float:
    if isinstance(module, nn.Embedding):
        return 1.0
    if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        return 1.3 / math.sqrt(parameter[0].numel())
    fan_in = parameter.shape[0] if isinstance(module, Conv1D) else parameter.shape[-1]
    return 1.3 / math.sqrt(fan_in)
