"""From a model's config to what it is: its kind, its class, and what prepares its inputs.

In: a config. Out: a `Kind` and a transformers class. The class that the config names is taken when
transformers has it, since it has the head that the weights were trained with; otherwise the auto
class of its kind is.
"""

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
# what a config has when its model takes pictures, or sound
IMAGE_FIELDS = ("image_size", "patch_size", "patch_sizes")
SOUND_FIELDS = ("num_mel_bins", "conv_kernel", "feat_extract_norm")
# models that listen, by what the library lists them for; of those that write, the ones that read
# nothing but sound
SOUND_TYPES = {
    *MODEL_FOR_CTC_MAPPING_NAMES,
    *MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES,
    *("whisper", "moonshine", "moonshine_streaming", "speech_to_text", "speech-encoder-decoder"),
    *("speecht5", "canary", "cohere_asr"),
}


def kind_of(config: PreTrainedConfig) -> ModelKind:
    """What sort of model a config describes."""
    has_text = hasattr(config, "text_config") or hasattr(config, "vocab_size")
    if hasattr(config, "vision_config") and has_text:
        return "text-image"
    hears = any(hasattr(config, field) for field in SOUND_FIELDS)
    if hears or config.model_type in SOUND_TYPES:
        return "speech"
    if any(hasattr(config, field) for field in IMAGE_FIELDS) and not hasattr(config, "vocab_size"):
        return "vision"
    if getattr(config, "is_encoder_decoder", False):
        return "encoder-decoder"
    named = " ".join(config.architectures or ())
    if "MaskedLM" in named or config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return "decoder" if getattr(config, "is_decoder", False) else "encoder"
    decodes = "CausalLM" in named or "LMHead" in named
    known = config.model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    return "decoder" if decodes or known else "encoder"


def class_for(config: PreTrainedConfig) -> Any:
    """The transformers class, or auto class, to load a model of this config with."""
    for name in config.architectures or ():
        named = getattr(transformers, name, None)
        if isinstance(named, type) and issubclass(named, PreTrainedModel):
            return named
    kind = kind_of(config)
    if kind == "encoder-decoder" and (
        config.model_type in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    ):
        return AutoModelForSeq2SeqLM
    if kind == "decoder":
        return AutoModelForCausalLM
    return AutoModelForImageClassification if kind == "vision" else AutoModel


def picture_token(model: nn.Module) -> int | None:
    """The token that stands for a piece of a picture inside a text; None where there is none."""
    config = getattr(model, "config", None)
    found = [getattr(config, name, None) for name in PICTURE_TOKENS]
    known = next((token for token in found if isinstance(token, int)), None)
    return known if hasattr(model, "get_image_features") else None


def writes_of_pictures(model: nn.Module) -> bool:
    """Whether a model continues a text that a picture is part of, by transformers' own `generate`.

    A model with code of its own for that may read something else than what was planned.
    """
    own = getattr(type(model), "generate", None) is not GenerationMixin.generate
    return picture_token(model) is not None and not own and bool(model.can_generate())  # type: ignore[operator]


def size_of(config: PreTrainedConfig) -> tuple[int, int]:
    """(layers, heads) as the config says; 0 where it does not, or has one for each layer."""
    text, depths = config.get_text_config(), getattr(config, "depths", None)
    if isinstance(depths, list | tuple):
        return sum(depths), 0
    layers = _first(text, "num_hidden_layers", "num_layers", "n_layer", "encoder_layers")
    heads = _first(text, "num_attention_heads", "num_heads", "n_head", "encoder_attention_heads")
    return layers, heads


def _first(config: PreTrainedConfig, *names: str) -> int:
    values = (getattr(config, name, None) for name in names)
    return next((value for value in values if isinstance(value, int)), 0)
