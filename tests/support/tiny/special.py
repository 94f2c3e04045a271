"""What the general rules of this package cannot know about a model type: overrides, by type."""

from typing import Any

# Fields of the config, by model type; "text_config.x" reaches into a sub-config.
OVERRIDES: dict[str, dict[str, Any]] = {
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "num_hidden_layers": 2},
    "qwen3_5_text": {"head_dim": 32},
    "qwen3_5_moe_text": {"head_dim": 32},
    "qwen4_exp_text": {"head_dim": 32},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
}

# The class to build, where the auto classes name none or one that cannot run alone.
MODEL_CLASSES: dict[str, str] = {}

# Builders of inputs: from `inputs.Source` to the arguments of forward.
INPUTS: dict[str, Any] = {}
