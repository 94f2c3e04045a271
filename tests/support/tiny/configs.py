"""A tiny config for any model type: widths of 64, 4 heads, 2 layers, one layer of each kind.

In: the config class that transformers knows the type by. Out: a config of that class, shrunk field
by field by name (`RULES`) and recursively through its sub-configs, so that a model of it has few
parameters and runs in milliseconds. What names do not tell stands in `special.OVERRIDES`. Style
"tiny" shrinks everything; "shallow" keeps the widths and cuts depth, vocabulary and pictures only,
for types whose widths depend on each other in ways of their own.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from transformers import PreTrainedConfig, TimmBackboneConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tests.support.tiny.special import OVERRIDES

Style = Literal["tiny", "shallow"]
HIDDEN, HEADS, HEAD_DIM, FFN, VOCAB, POSITIONS, IMAGE = 64, 4, 16, 96, 512, 128, 64

Rule = tuple[re.Pattern[str], Callable[[int], int]]


def _rule(pattern: str, new: Callable[[int], int]) -> Rule:
    return re.compile(pattern), new


def _fixed(size: int) -> Callable[[int], int]:
    return lambda _old: size


def _at_most(size: int) -> Callable[[int], int]:
    return lambda old: min(old, size)


# The first pattern that a field's name contains decides; a name that none contains keeps its value.
DEPTH_RULES: tuple[Rule, ...] = (
    _rule(r"dropout|layerdrop|_token_id$|^pad_|num_labels", lambda old: old),
    _rule(r"(^|_)(n_)?vocab(_size|_hash)?$|vocab_size_per_layer|_group_vocab$", _at_most(VOCAB)),
    _rule(r"^max_source_positions$", _at_most(40)),
    _rule(r"max_position|n_positions$|^max_seq|model_max_length|max_pos_emb$", _at_most(POSITIONS)),
    _rule(r"^max_(text|target|speech)_positions|decoder_position_emb", _at_most(POSITIONS)),
    _rule(r"n_shared_experts|num_shared_experts", _at_most(1)),
    _rule(r"experts_per_tok|^moe_top_?k$|top_k_experts|^moe_k$|^num_selected_experts", _at_most(2)),
    _rule(r"n_routed_experts|num_(local_)?experts$|num_experts$|zero_expert_num", _at_most(4)),
    _rule(r"^n_group$|^topk_group$|^num_expert_group$", _fixed(1)),
    _rule(r"max_window_layers|feat_extract_layers|kv_shared_layers|conv_layers", lambda old: old),
    _rule(r"adapter_layers|wavenet_layers|dense_layers|full_attention_layers", lambda old: old),
    _rule(r"(^|_)layers$|^n_layer$|^depth$|_depth$|^num_layers_per_stack$", _at_most(2)),
    _rule(r"^(image|img)_size$|^max_img_size$|^max_image_size$", lambda old: min(old, IMAGE)),
    _rule(r"^sliding_window(_size)?$|^attention_(chunk|window)_size$", _at_most(4)),
    _rule(r"^local_attention$|attention_window_len$", _at_most(4)),
    _rule(r"^window_size$", lambda old: 64 if old > 99 else min(old, 4)),
    _rule(r"^num_queries$|num_proposals$", _at_most(7)),
    _rule(r"^num_query_tokens$|^num_latents$|^latent_query_num$", _at_most(5)),
    _rule(r"^index_topk$", _fixed(3)),
)
WIDTH_RULES: tuple[Rule, ...] = (
    _rule(r"(linear|index)_.*heads$", _at_most(2)),
    _rule(r"mamba.*heads$", _fixed(HEADS)),
    _rule(r"mamba.*(d_head|head_?dim)$", _fixed(2 * HIDDEN // HEADS)),
    _rule(r"^mamba_d_ssm$|^linear_attn_hidden", _fixed(2 * HIDDEN)),
    _rule(r"qk_nope_head_dim|qk_rope_head_dim|^rotary_dim$", _at_most(HEAD_DIM // 2)),
    _rule(r"lora_rank$|_lowrank$", _at_most(HEAD_DIM)),
    _rule(r"head_dim$|^d_head$|^d_kv$|dim_head$|^kv_channels$|head_size$", _at_most(HEAD_DIM)),
    _rule(r"(^|_)heads?$", _at_most(HEADS)),
    _rule(r"(expert|moe).*(intermediate|ffn)|expert_dim", _at_most(FFN // 3)),
    _rule(r"intermediate|ffn_dim|ffn_hidden|^d_ff$|^dff$|mlp_dim$|feed_?forward", _at_most(FFN)),
    _rule(r"^dim_ff$|^n_inner$|_hidden_size_mlp$|feed_forward_size|_ffn_size$", _at_most(FFN)),
    _rule(r"hidden_size|d_model$|n_embd$|embed_dim$|emb_dim$|^dim$", _at_most(HIDDEN)),
    _rule(r"embedding_size$|(projection|proj|hidden|embedding)_dim$", _at_most(HIDDEN)),
    _rule(r"^dim_model|^output_dim$|pooler_output_size|lru_width|^query_pre", _at_most(HIDDEN)),
)
# Values for fields that no default gives; a real config always has them.
FILL = {"head_dim": HEAD_DIM, "num_key_value_heads": HEADS, "num_experts_per_tok": 2}
FILL |= {"n_routed_experts": 4, "n_shared_experts": 1, "shared_expert_intermediate_size": 32}
KV_HEADS = re.compile(r"(key_value|kv)_(attention_)?heads")
PER_STAGE = re.compile(r"^(depths?|hidden_sizes|num_(attention_)?heads|embed_dims?|blocks_per)")
TOKEN_ID = re.compile(r"(_token(_id|_index)?|_token_ids|_id)$")


def tiny_config(
    model_type: str, style: Style = "tiny", overrides: dict[str, Any] | None = None
) -> PreTrainedConfig:
    """The config of `model_type`, shrunk; `overrides` replaces fields ("text_config.x" nested)."""
    wanted = dict(OVERRIDES.get(model_type, {})) | (overrides or {})
    default = CONFIG_MAPPING[model_type](**wanted.pop("_start", {}))
    return shrink(default, style, wanted, TokenIds())


class TokenIds:
    """Hands out small token ids for the large ones of real vocabularies, the same for the same."""

    def __init__(self) -> None:
        self.given: dict[int, int] = {}

    def small(self, token: int) -> int:
        return self.given.setdefault(token, VOCAB - 1 - len(self.given))


def shrink(
    config: PreTrainedConfig, style: Style, overrides: dict[str, Any], ids: TokenIds
) -> PreTrainedConfig:
    """A new config of the same class, shrunk by the rules, with the overrides on top."""
    own = {name: value for name, value in overrides.items() if "." not in name}
    rules = DEPTH_RULES if style == "shallow" or _has_stages(config) else DEPTH_RULES + WIDTH_RULES
    layers = chosen_layers(config)
    changed: dict[str, Any] = {}
    for name in _field_names(config):
        value = _read(config, name)
        if name in own:
            continue
        if isinstance(value, TimmBackboneConfig):
            changed[name] = _without_timm(value)
        elif isinstance(value, PreTrainedConfig):
            type_wide = OVERRIDES.get(value.model_type, {})
            nested = {key: new for key, new in type_wide.items() if key != "_start"}
            nested |= _below(name, overrides)
            changed[name] = shrink(value, style, nested, ids)
        else:
            new = _new_value(name, value, config, rules, layers, ids)
            if not _equal(new, value) or _set_by_parent(config, name, value):
                changed[name] = new
    changed |= _per_layer(config, rules, layers, ids) | _backbone_outputs(config, changed) | own
    return type(config)(**changed)


def _read(config: PreTrainedConfig, name: str) -> Any:
    """A field's value, per-layer fields (which plain access refuses) included."""
    return config._getattr_without_heterogeneous_validation(name, None)


def _per_layer(
    config: PreTrainedConfig,
    rules: Iterable[Rule],
    layers: tuple[int, list[int]] | None,
    ids: "TokenIds",
) -> dict[str, Any]:
    """What single layers have of their own, for the layers that are kept."""
    spec = getattr(config, "_heterogeneity_spec", None)
    if spec is None or layers is None:
        return {}
    return {
        "per_layer_config": {
            new: {
                name: _number(name, value, config, rules, ids)
                for name, value in _same_heads(spec.per_layer_overrides.get(old, {})).items()
            }
            for new, old in enumerate(layers[1])
        }
    }


def _same_heads(fields: dict[str, Any]) -> dict[str, Any]:
    """One layer's fields; key-value heads that equal its heads will do so when shrunk, too."""
    if fields.get("num_key_value_heads") != fields.get("num_attention_heads"):
        return fields
    return fields | {"num_key_value_heads": 10**6} if "num_attention_heads" in fields else fields


def _field_names(config: PreTrainedConfig) -> list[str]:
    base = {field.name for field in fields(PreTrainedConfig)}
    return [field.name for field in fields(config) if field.name not in base]


def _below(name: str, overrides: dict[str, Any]) -> dict[str, Any]:
    """The overrides that belong to the sub-config `name`."""
    prefix = f"{name}."
    return {key[len(prefix) :]: new for key, new in overrides.items() if key.startswith(prefix)}


def _has_stages(config: PreTrainedConfig) -> bool:
    """True where widths or heads are given per stage: they depend on each other."""
    return any(
        PER_STAGE.search(name) and isinstance(_read(config, name), (list, tuple))
        for name in _field_names(config)
    ) and not hasattr(config, "layer_types")


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _set_by_parent(config: PreTrainedConfig, name: str, value: Any) -> bool:
    """True for a value that the class does not have by itself (a parent's default for it)."""
    field = next(field for field in fields(config) if field.name == name)
    if value is None or name in ("_out_features", "_out_indices", "stage_names"):
        return False
    original = _fresh(type(config))
    fresh = None if original is None else _read(original, name)
    return not _equal(value, fresh) and field.init


_FRESH: dict[type, PreTrainedConfig | None] = {}


def _fresh(config_class: type) -> PreTrainedConfig | None:
    if config_class not in _FRESH:
        try:
            _FRESH[config_class] = config_class()
        except Exception:  # a class that needs arguments has no defaults to compare with
            _FRESH[config_class] = None
    return _FRESH[config_class]


def chosen_layers(config: PreTrainedConfig) -> tuple[int, list[int]] | None:
    """The number of layers and those to keep: the first of each kind, two at least."""
    kinds = next(
        (
            value
            for name in ("layer_types", "layers_block_type", "mlp_layer_types")
            if isinstance(value := _read(config, name), (list, tuple)) and value
        ),
        None,
    )
    if kinds is None:
        return None
    keep = {list(kinds).index(kind) for kind in dict.fromkeys(kinds)}
    keep |= set(range(min(2, len(kinds)))) if len(keep) < 2 else set()
    return len(kinds), sorted(keep)


def _new_value(
    name: str,
    value: Any,
    config: PreTrainedConfig,
    rules: Iterable[Rule],
    layers: tuple[int, list[int]] | None,
    ids: TokenIds,
) -> Any:
    """The tiny value of one field."""
    if value is None and len(list(rules)) > len(DEPTH_RULES):
        return FILL.get(name)
    if isinstance(value, dict):
        return _shrink_rope(value, config, rules) if name.startswith("rope") else value
    if name == "image_size" and isinstance(value, int) and _has_stages(config):
        return min(value, 2 * IMAGE)
    if isinstance(value, (list, tuple)):
        if layers is not None and len(value) == layers[0] and len(value) > 1:
            kept = [value[layer] for layer in layers[1]]
            return type(value)(_number(name, item, config, rules, ids) for item in kept)
        if name in ("depths", "num_block_repeats", "blocks_per_stage", "n_attn_blocks"):
            return type(value)(min(depth, 2 if len(value) < 3 else 1) for depth in value)
        if TOKEN_ID.search(name) and all(isinstance(item, int) for item in value):
            return type(value)(_number(name, item, config, rules, ids) for item in value)
        return value
    if layers is not None and name in ("num_hidden_layers", "num_layers", "n_layer"):
        return len(layers[1])
    return _number(name, value, config, rules, ids)


def _number(
    name: str, value: Any, config: PreTrainedConfig, rules: Iterable[Rule], ids: TokenIds
) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    if TOKEN_ID.search(name):
        return ids.small(value) if value >= VOCAB - 100 else value
    if KV_HEADS.search(name):
        return value if len(list(rules)) == len(DEPTH_RULES) else _kv_heads(value, config)
    return next((new(value) for pattern, new in rules if pattern.search(name)), value)


def _kv_heads(value: int, config: PreTrainedConfig) -> int:
    """1, 2 or 4 heads, so that the kind of sharing stays what it is."""
    heads = _read(config, "num_attention_heads") or value
    heads = max(heads) if isinstance(heads, (list, tuple)) else heads or value
    return 1 if value == 1 else HEADS if value >= heads else 2


def _shrink_rope(value: dict[str, Any], config: PreTrainedConfig, rules: Iterable[Rule]) -> Any:
    """Rotary sections (time, height, width) as parts of the new, smaller head."""
    if len(list(rules)) == len(DEPTH_RULES) or not value:
        return value
    nested = {key: item for key, item in value.items() if isinstance(item, dict)}
    if nested:
        return value | {key: _shrink_rope(item, config, rules) for key, item in nested.items()}
    sections = value.get("mrope_section") or _default_sections(config)
    if not sections:
        return value
    head_dim = OVERRIDES.get(config.model_type, {}).get("head_dim", HEAD_DIM)
    rotated = int(head_dim * (value.get("partial_rotary_factor") or 1))
    return value | {"mrope_section": scaled_sections(sections, rotated // 2)}


def _default_sections(config: PreTrainedConfig) -> list[int] | None:
    """The rotary sections that the modeling file falls back to: they stand nowhere else."""
    file = Path(inspect.getfile(type(config)))
    modeling = file.with_name(file.name.replace("configuration_", "modeling_"))
    text = modeling.read_text() if modeling.exists() else ""
    found = re.search(r'"mrope_section", \[([\d, ]+)\]', text)
    fits = found and "vision" not in config.model_type
    return [int(part) for part in found[1].split(",")] if fits else None


def scaled_sections(sections: Iterable[int], total: int) -> list[int]:
    """Whole numbers in about the same proportion that add up to `total`."""
    old = list(sections)
    new = [max(1, part * total // sum(old)) for part in old]
    new[-1] += total - sum(new)
    return new


def _without_timm(config: PreTrainedConfig) -> PreTrainedConfig:
    """A backbone of timm, which is no dependency, as a small ResNet with as many outputs."""
    indices = config.out_indices or config.out_features or [4]
    return CONFIG_MAPPING["resnet"](
        embedding_size=16,
        hidden_sizes=[16, 32, 32, 64],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_indices=list(range(5 - len(indices), 5)),
    )


def _backbone_outputs(config: PreTrainedConfig, changed: dict[str, Any]) -> dict[str, Any]:
    """Which stages a backbone returns: as many as before, the last ones where layers are gone."""
    indices = getattr(config, "_out_indices", None)
    original = _fresh(type(config))
    if not indices or original is None or list(indices) == list(original._out_indices or ()):
        return {}
    layers = changed.get("num_hidden_layers")
    if not isinstance(layers, int) or max(indices) <= layers:
        return {"out_indices": list(indices)}
    layers = max(layers, len(indices))
    return {
        "num_hidden_layers": layers,
        "out_indices": list(range(layers - len(indices) + 1, layers + 1)),
    }
