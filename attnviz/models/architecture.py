"""The facts about a model from its config and modules: kind, class, sizes, readable inputs.

In: a config or a module. Out: a `ModelKind`, a transformers class, counts. The class that the
config names is preferred where transformers has it, since it has the head that the weights were
trained with; otherwise the auto class of the kind is taken.
"""

from collections.abc import Callable, Collection, Mapping
from functools import cache
from inspect import Parameter, Signature, signature
from types import MappingProxyType
from typing import Any

import transformers
from torch import nn
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageClassification,
    AutoModelForSeq2SeqLM,
    GenerationMixin,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES,
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_CTC_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from attnviz.types import ModelKind

PICTURE_TOKENS = ("image_token_id", "image_token_index")
# fields that only the configs of models for pictures, or for sound, have
IMAGE_FIELDS = ("image_size", "patch_size", "patch_sizes")
SOUND_FIELDS = ("num_mel_bins", "conv_kernel", "feat_extract_norm")
# speech models by the tasks that transformers lists them for, and those that write and read
# nothing but sound
SOUND_TYPES = {
    *MODEL_FOR_CTC_MAPPING_NAMES,
    *MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES,
    *("whisper", "moonshine", "moonshine_streaming", "speech_to_text", "speech-encoder-decoder"),
    *("speecht5", "canary", "cohere_asr"),
}
CAUSAL_HEADS = ("CausalLM", "LMHead")


def kind_of(config: PreTrainedConfig) -> ModelKind:
    """The kind of model that a config describes: the first rule that holds, else an encoder."""
    return next((kind for kind, holds in KIND_RULES if holds(config)), "encoder")


def _reads_text_and_pictures(config: PreTrainedConfig) -> bool:
    has_text = hasattr(config, "text_config") or hasattr(config, "vocab_size")
    return hasattr(config, "vision_config") and has_text


def _reads_sound(config: PreTrainedConfig) -> bool:
    return _has_any(config, SOUND_FIELDS) or config.model_type in SOUND_TYPES


def _reads_pictures_only(config: PreTrainedConfig) -> bool:
    return _has_any(config, IMAGE_FIELDS) and not hasattr(config, "vocab_size")


def _has_two_stacks(config: PreTrainedConfig) -> bool:
    return bool(getattr(config, "is_encoder_decoder", False))


def _predicts_the_next_token(config: PreTrainedConfig) -> bool:
    """True for causal language models; types that fill in masks count only if they say so."""
    classes = " ".join(config.architectures or ())
    if "MaskedLM" in classes or config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return bool(getattr(config, "is_decoder", False))
    has_causal_head = any(head in classes for head in CAUSAL_HEADS)
    return has_causal_head or config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES


def _has_any(config: PreTrainedConfig, fields: tuple[str, ...]) -> bool:
    return any(hasattr(config, field) for field in fields)


# in this order: a model for text and pictures also has the fields of one for pictures
KIND_RULES: tuple[tuple[ModelKind, Callable[[PreTrainedConfig], bool]], ...] = (
    ("text-image", _reads_text_and_pictures),
    ("speech", _reads_sound),
    ("vision", _reads_pictures_only),
    ("encoder-decoder", _has_two_stacks),
    ("decoder", _predicts_the_next_token),
)


def class_for(config: PreTrainedConfig) -> Any:
    """The transformers class, or auto class, that loads a model of this config."""
    for name in config.architectures or ():
        cls = getattr(transformers, name, None)
        if isinstance(cls, type) and issubclass(cls, PreTrainedModel):
            return cls
    kind = kind_of(config)
    if kind == "encoder-decoder" and (
        config.model_type in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    ):
        return AutoModelForSeq2SeqLM
    if kind == "decoder":
        return AutoModelForCausalLM
    return AutoModelForImageClassification if kind == "vision" else AutoModel


def picture_token(model: nn.Module) -> int | None:
    """The token that stands for a patch of a picture inside a text; None if the model has none."""
    if not hasattr(model, "get_image_features"):
        return None
    config = getattr(model, "config", None)
    tokens = (getattr(config, name, None) for name in PICTURE_TOKENS)
    return next((token for token in tokens if isinstance(token, int)), None)


def has_decoder(model: nn.Module) -> bool:
    """True if the model's config describes an encoder with a decoder."""
    return bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))


def can_generate(model: nn.Module) -> bool:
    """True if transformers' `generate` can let the model write text."""
    able: Any = getattr(model, "can_generate", None)
    return callable(getattr(model, "generate", None)) and callable(able) and bool(able())


def generates_from_pictures(model: nn.Module) -> bool:
    """True if transformers' own `generate` continues a text that contains a picture.

    A model that overrides `generate` may read something other than the planned tokens.
    """
    overridden = getattr(type(model), "generate", None) is not GenerationMixin.generate
    return picture_token(model) is not None and not overridden and can_generate(model)


def size_of(config: PreTrainedConfig) -> tuple[int, int]:
    """(layers, heads) as the config says; 0 where it does not, or where layers differ."""
    text, depths = config.get_text_config(), getattr(config, "depths", None)
    if isinstance(depths, list | tuple):
        return sum(depths), 0
    layers = _first_int(text, "num_hidden_layers", "num_layers", "n_layer", "encoder_layers")
    heads = _first_int(
        text, "num_attention_heads", "num_heads", "n_head", "encoder_attention_heads"
    )
    return layers, heads


def _first_int(config: PreTrainedConfig, *names: str) -> int:
    values = (getattr(config, name, None) for name in names)
    return next((value for value in values if isinstance(value, int)), 0)


def n_positions(model: nn.Module) -> int | None:
    """The number of positions that the model has for tokens; None if config and modules do not say.

    RoBERTa and its relatives count positions from behind the padding token's, so that the rows of
    their table up to that one are never reached.
    """
    config = getattr(model, "config", None)
    limits = []
    if isinstance(config, PreTrainedConfig):
        limits.append(getattr(config.get_text_config(), "max_position_embeddings", None))
    for module in model.modules():
        table = getattr(module, "position_embeddings", None)
        rows, padding = (getattr(table, name, None) for name in ("num_embeddings", "padding_idx"))
        if isinstance(rows, int) and isinstance(padding, int):
            limits.append(rows - padding - 1)
    return min((limit for limit in limits if isinstance(limit, int) and limit > 0), default=None)


def n_ids(model: nn.Module, *, decoder: bool = False) -> int | None:
    """The number of rows of the table that token ids are looked up in; None if it is not known."""
    stack: Any = model
    try:
        if decoder and has_decoder(model):
            stack = model.get_decoder()  # type: ignore[operator]
        table = stack.get_input_embeddings()
    except (AttributeError, NotImplementedError, TypeError):
        return None
    rows = getattr(table, "num_embeddings", None)
    return rows if isinstance(rows, int) else None


def placeholder_ids(model: nn.Module) -> frozenset[int]:
    """Token ids that the config names, such as a picture's; some of them are never looked up."""
    config = getattr(model, "config", None)
    values = vars(config).items() if isinstance(config, PreTrainedConfig) else ()
    return frozenset(
        value
        for name, value in values
        if name.endswith(("_token_id", "_token_index")) and isinstance(value, int)
    )


def forward_arguments(model: nn.Module) -> Mapping[str, Parameter]:
    """The arguments of a model's forward pass by name, without those of `*args` and `**kwargs`."""
    return _arguments(type(model).forward)


@cache
def _arguments(forward: Callable[..., object]) -> Mapping[str, Parameter]:
    parameters = _parameters(forward)[1:]  # without self
    return MappingProxyType(
        {
            parameter.name: parameter
            for parameter in parameters
            if parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        }
    )


@cache
def _signature(forward: Callable[..., object]) -> Signature:
    rest = [p for p in _parameters(forward) if p.kind is Parameter.VAR_KEYWORD]
    return Signature([*_arguments(forward).values(), *rest])


def without_cache(model: nn.Module, given: Collection[str]) -> dict[str, bool]:
    """The option that keeps a single pass from a copy of all keys and values, if it takes one.

    A cache is for further passes. Where positions are given the model's own choice stays: in a pass
    without a cache alone, transformers reads positions that begin anew as packed texts, which do
    not attend to each other.
    """
    is_free = not any(name == "use_cache" or name.endswith("position_ids") for name in given)
    return {"use_cache": False} if is_free and "use_cache" in forward_arguments(model) else {}


def refusal_of_arguments(model: nn.Module, names: tuple[str, ...], *, is_whole: bool) -> str:
    """The reason why a forward pass cannot be called with arguments of these names; "" if it can.

    Unless they are the `whole` of them, more may follow.
    """
    return _refusal(type(model).forward, names, is_whole)


@cache
def _refusal(forward: Callable[..., object], names: tuple[str, ...], is_whole: bool) -> str:
    signature = _signature(forward)
    bind = signature.bind if is_whole else signature.bind_partial
    try:
        bind(**dict.fromkeys(names))
    except TypeError as error:
        return str(error)
    return ""


@cache
def _parameters(forward: Callable[..., object]) -> tuple[Parameter, ...]:
    return tuple(signature(forward).parameters.values())


def takes_any_argument(model: nn.Module) -> bool:
    """True if a model's forward pass has `**kwargs`."""
    parameters = _parameters(type(model).forward)
    return any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters)
