"""Read a model's files, or take a module as it is, and make a `LoadedModel` of it.

In: a folder that was checked before; no network is used. Out: model, tokenizer, processor, card and
key. Whatever a damaged or unknown model makes transformers raise becomes one `ModelNotFound`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from huggingface_hub.errors import HfHubHTTPError
from safetensors import SafetensorError
from torch import nn
from transformers import (
    AutoConfig,
    AutoFeatureExtractor,
    AutoImageProcessor,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils.logging import (
    disable_progress_bar,
    enable_progress_bar,
    is_progress_bar_enabled,
)

from attnviz.errors import ModelNotFound
from attnviz.models import architecture, chat_template, files
from attnviz.models.files import first_line
from attnviz.models.loaded import LoadedModel
from attnviz.types import ModelCard, ModelKey, ModelKind

HERE = {"local_files_only": True, "trust_remote_code": False}


def read(
    folder: str, name: str, revision: str | None, device: str, dtype: torch.dtype
) -> LoadedModel:
    """The model in a folder; `revision` is the hub's commit that its files are of."""
    try:
        with _quiet():
            config = AutoConfig.from_pretrained(folder, **HERE)
            model = architecture.class_for(config).from_pretrained(
                folder, config=config, use_safetensors=True, dtype=dtype, local_files_only=True
            )
    except (OSError, ValueError, KeyError, SafetensorError, HfHubHTTPError) as error:
        raise cannot_load(name, first_line(error)) from error
    _require_finite(model, name)
    kind, tokenizer = architecture.kind_of(config), _tokenizer(folder)
    card = _card(name, kind, config, model, revision)
    pictured = kind == "text-image" and architecture.writes_of_pictures(model)
    has_template = chat_template.of_tokenizer(tokenizer) is not None
    writes = kind == "speech" and getattr(config, "is_encoder_decoder", False)
    return LoadedModel(
        card=replace(
            card,
            transcribes=writes and tokenizer is not None,
            takes_messages=(kind == "decoder" or pictured) and has_template,
            writes_of_pictures=pictured,
        ),
        key=ModelKey(name, revision or "main", _name(dtype), device),
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        processor=_processor(folder, kind),
    )


def cannot_load(name: str, reason: str) -> ModelNotFound:
    """What to say of a model whose files do not make one."""
    return ModelNotFound(
        f"{name} cannot be loaded: {reason}", code="cannot_load", asked=name, reason=reason
    )


def wrap(module: nn.Module) -> LoadedModel:
    """A module that is in memory already, as it is."""
    parameter = next(module.parameters(), None)
    dtype = torch.float32 if parameter is None else parameter.dtype
    device = "cpu" if parameter is None else str(parameter.device)
    config = getattr(module, "config", None)
    if not isinstance(config, PreTrainedConfig):
        config = None
    kind: ModelKind = "module" if config is None else architecture.kind_of(config)
    name = type(module).__name__
    key = ModelKey(f"{name}@{id(module):x}", "live", _name(dtype), device)
    return LoadedModel(_card(name, kind, config, module, None), key, module)


def _card(
    name: str,
    kind: ModelKind,
    config: PreTrainedConfig | None,
    model: nn.Module,
    revision: str | None,
) -> ModelCard:
    layers, heads = (0, 0) if config is None else architecture.size_of(config)
    n_bytes = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    return ModelCard(
        name=name,
        kind=kind,
        layers=layers,
        heads=heads,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        size_mib=round(n_bytes / files.MIB, 1),
        licence="",
        description=type(model).__name__,
        revision=revision or "main",
        hub_id=name,
    )


def _tokenizer(folder: str) -> PreTrainedTokenizerBase | None:
    """The model's tokenizer; None for a model that has none, a vision transformer for instance."""
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, **HERE)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return tokenizer


def _processor(folder: str, kind: ModelKind) -> object | None:
    """What makes pixels or samples into inputs, for models that take them."""
    auto: Any = {
        "vision": AutoImageProcessor,
        "text-image": AutoImageProcessor,
        "speech": AutoFeatureExtractor,
    }.get(kind)
    if auto is None:
        return None
    try:
        processor: object = auto.from_pretrained(folder, **HERE)
    except (OSError, ValueError, KeyError):
        return None
    return processor


def _require_finite(model: PreTrainedModel, name: str) -> None:
    bad = [
        key
        for key, tensor in model.named_parameters()
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all())
    ]
    if bad:
        raise ModelNotFound(
            f"the weights of {name} are not all numbers: {bad[0]} and {len(bad) - 1} more have NaN"
            " or infinity; the file is damaged",
            code="nan_weights",
            asked=name,
            tensor=bad[0],
        )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bar on a server's terminal; put back as it was for the library's other users."""
    shown = is_progress_bar_enabled()
    disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            enable_progress_bar()  # type: ignore[no-untyped-call]
