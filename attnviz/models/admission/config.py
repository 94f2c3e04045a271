"""The rules for `config.json` and `generation_config.json`.

In: the object of the file. Out: the same without the fields that attnviz chooses itself (code from
a hub, the attention implementation, number types); or an error. Sizes are bounded by the name of
their field, generously: the largest published models stay far below.
"""

import re
from typing import Any

from attnviz.errors import ModelNotFound
from attnviz.models.admission import json_files as js
from attnviz.models.admission.json_files import Json

# attnviz chooses these itself, whatever a config says, at any depth
CHOSEN = re.compile(
    r"_name_or_path|name_or_path|auto_map|_commit_hash|transformers_version|(torch_)?dtype"
    r"|_?(attn|experts)_implementation.*|use_kernels?|kernel_config|custom_pipelines|device_map"
    r"|custom_generate|compile_config|use_pretrained_backbone|backbone_kwargs"
    r"|transformers_weights|fusion_config|distributed_config|extra_files|gguf_file"
)
QUANTISED = ("quantization_config", "compression_config")
MAX_TOKENS_OF_A_PICTURE = 16_384
MAX_LABELS = 2**16
UNNAMED = 2**63
# a negative number of heads makes a model that loads, and whose tensors have negative sides
N_HEADS = re.compile(r"(.*_)?(num|n)_(.*_)?heads?(_kv)?")
# the first pattern that is found in a field's name bounds its whole numbers
BOUNDS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern), most)
    for pattern, most in (
        (r"^(?!.*(size|dim|channel|width)).*(layer|depth|(num|n)_(blocks?|stages?))", 1024),
        (r"^(?!.*(size|dim|channel|width)).*head", 1024),
        (r"expert", 4096),
        (r"vocab|num_embeddings", 2**22),
        (r"num_(labels|classes)|n_classes", MAX_LABELS),
        (r"image_size|img_size", 8192),
        (r"position|n_ctx|seq_?len|max_seq|max_length", 2**25),
        (r"token|_ids?$", 2**31),
        (r"size|dim|width|d_model|d_ff|d_kv|n_embd|n_inner|rank|channel|kernel|stride", 2**20),
        (r"^(num|n)_", 2**20),
        (r"beams?|return_sequences", 64),
    )
)


def admit(file: str, config: Json) -> Json:
    """The config without what attnviz chooses; raises for quantised weights and for sizes."""
    for path, key, value in js.walk(config):
        if key in QUANTISED and value:
            raise quantised(file, path)
        if key in ("id2label", "label2id"):
            js.require_count(file, path, value, MAX_LABELS)
        if isinstance(value, int) and not isinstance(value, bool):
            js.require_at_most(file, path, value, _most(key))
            if value < 0 and N_HEADS.fullmatch(key.lower()):
                raise js.out_of_range(file, path, value, 1, _most(key))
        if isinstance(value, dict):
            _require_few_patches(file, path, value)
    kept: Json = _without_chosen(config)
    return kept


def _most(key: str) -> int:
    name = key.lower()
    return next((most for pattern, most in BOUNDS if pattern.search(name)), UNNAMED)


def _without_chosen(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_chosen(child)
            for key, child in value.items()
            if not CHOSEN.fullmatch(key) and key not in QUANTISED
        }
    return [_without_chosen(child) for child in value] if isinstance(value, list) else value


def _require_few_patches(file: str, path: str, part: Json) -> None:
    """Raise if a picture would become more tokens than a text may have."""
    side, patch = (_largest(part.get("image_size"), max), _largest(part.get("patch_size"), min))
    if side and patch and (side // patch) ** 2 > MAX_TOKENS_OF_A_PICTURE:
        field = f"{path}.patch_size".lstrip(".")
        least = -(-side // int(MAX_TOKENS_OF_A_PICTURE**0.5))
        raise js.out_of_range(file, field, patch, least, side)


def _largest(value: object, choose: Any) -> int:
    numbers = [value] if isinstance(value, int) else value
    if not isinstance(numbers, list) or not numbers:
        return 0
    whole = [number for number in numbers if isinstance(number, int) and number > 0]
    return int(choose(whole)) if whole else 0


def quantised(file: str, field: str) -> ModelNotFound:
    """The error about weights that are stored in a quantised form."""
    return ModelNotFound(
        f"the weights of this model are quantised ({field} in {file}); attnviz computes in floating"
        " point: choose the model as it was before it was quantised",
        code="quantised",
        file=file,
        field=field,
    )
