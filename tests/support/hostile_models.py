"""Model folders that someone wrote to do harm: one change of an honest folder for each kind."""

import json
import shutil
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from attnviz.models import files

Change = Callable[[Path], None]
HUGE = 10**9
MANY_SHARDS = json.dumps(
    {"weight_map": {f"w{at}": f"model-{at}.safetensors" for at in range(files.MAX_SHARDS + 1)}}
)


@dataclass(frozen=True)
class Kind:
    """One kind of hostile folder; `model` is the honest one, `code` the error that is expected."""

    name: str
    change: Change
    code: str
    model: str = "bert"


def set_json(file: str, **fields: Any) -> Change:
    """Set fields of a JSON file, which need not exist."""

    def change(folder: Path) -> None:
        path = folder / file
        value = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(value | fields))

    return change


def written(file: str, data: str | bytes) -> Change:
    """A file with these bytes."""

    def change(folder: Path) -> None:
        raw = data.encode() if isinstance(data, str) else data
        (folder / file).write_bytes(raw)

    return change


def both(*changes: Change) -> Change:
    """Several changes, one after the other."""

    def change(folder: Path) -> None:
        for part in changes:
            part(folder)

    return change


def without(*names: str) -> Change:
    """The folder without some files."""

    def change(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return change


def linked(file: str, target: str) -> Change:
    """A file in whose place there is a link."""

    def change(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        (folder / file).symlink_to(target)

    return change


def in_tokenizer(**parts: Any) -> Change:
    """Parts of `tokenizer.json`."""
    return set_json("tokenizer.json", **parts)


def tensors(change_of: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Change:
    """The weights, changed."""

    def change(folder: Path) -> None:
        stored = change_of(load_file(folder / files.WEIGHTS))
        save_file(
            {name: tensor.contiguous() for name, tensor in stored.items()},
            folder / files.WEIGHTS,
            metadata={"format": "pt"},
        )

    return change


def indexed(name: str) -> Change:
    """Weights behind an index that names a file somewhere else."""

    def change(folder: Path) -> None:
        keys = load_file(folder / files.WEIGHTS)
        away = folder.parent / "away.safetensors"
        shutil.move(folder / files.WEIGHTS, away)
        index = {"metadata": {}, "weight_map": dict.fromkeys(keys, name.format(away=away))}
        (folder / files.INDEX).write_text(json.dumps(index))

    return change


def a_pipe(file: str) -> Change:
    """A file that nobody ever writes to: opening it waits for ever."""

    def change(folder: Path) -> None:
        import os

        (folder / file).unlink()
        os.mkfifo(folder / file)

    return change


def _replaced(times: int, content: str = "a" * 10) -> dict[str, Any]:
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": content}
    return {"type": "Sequence", "normalizers": [step] * times}


def _nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "Lowercase"}
    for _ in range(depth):
        inner = {"type": "Sequence", "normalizers": [inner]}
    return inner


def _added(count: int) -> list[dict[str, Any]]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return [{"id": 100 + n, "content": f"<{n}>", **flags} for n in range(count)]


ENVIRONMENT = "/proc/self/environ"
OUT, FORM, BANNED = "field_out_of_range", "field_wrong_form", "field_not_allowed"
NO_FAST = without("tokenizer.json")
CONFIG, ARGUMENTS, TOKENS = "config.json", "tokenizer_config.json", "special_tokens_map.json"


def _sizes() -> list[Kind]:
    numbers = {
        "num_hidden_layers": HUGE,
        "num_attention_heads": 2**20,
        "hidden_size": 2**30,
        "intermediate_size": 2**40,
        "vocab_size": 10**12,
        "max_position_embeddings": 10**15,
        "num_labels": HUGE,
        "type_vocab_size": HUGE,
        "num_experts": HUGE,
        "pad_token_id": 10**30,
    }
    kinds = [Kind(name, set_json(CONFIG, **{name: n}), OUT) for name, n in numbers.items()]
    return [
        *kinds,
        Kind("layers-negative", set_json(CONFIG, num_hidden_layers=-HUGE), OUT),
        Kind("labels", set_json(CONFIG, id2label={str(n): "x" for n in range(70_000)}), OUT),
        Kind("inside", set_json(CONFIG, text_config={"num_hidden_layers": HUGE}), OUT),
        Kind("patches", set_json(CONFIG, image_size=1024, patch_size=1), OUT, "vit"),
        Kind("picture", set_json("preprocessor_config.json", size=60_000), OUT, "vit"),
        Kind(
            "picture-sides",
            set_json("preprocessor_config.json", size={"height": 60_000, "width": 3}),
            OUT,
            "vit",
        ),
        Kind("beams", set_json("generation_config.json", num_beams=HUGE), OUT, "gpt2"),
        # 4096 wide, and not a number in the file: 2 GiB would be drawn at random
        Kind(
            "hollow",
            both(
                set_json(CONFIG, hidden_size=4096, intermediate_size=4096, num_attention_heads=32),
                tensors(lambda _: {}),
            ),
            "weights_missing",
        ),
    ]


def _files() -> list[Kind]:
    sources = ("vocab_file", "vocab", "merges_file", "spm_file", "emoji_file")
    return [
        *(
            Kind(
                f"tokens-{name}",
                both(NO_FAST, set_json(TOKENS, **{name: ENVIRONMENT})),
                BANNED,
            )
            for name in (*sources, "tokenizer_file", "name_or_path", "init_inputs")
        ),
        *(
            Kind(
                f"arguments-{name}",
                both(
                    NO_FAST, set_json(ARGUMENTS, tokenizer_class="BertTokenizer", **{name: value})
                ),
                BANNED,
            )
            for name, value in (
                *((source, ENVIRONMENT) for source in sources),
                ("init_inputs", [ENVIRONMENT]),
                ("vocab", {"a": 1}),
            )
        ),
        Kind("index-absolute", indexed("{away}"), "bad_index"),
        Kind("index-above", indexed("../away.safetensors"), "bad_index"),
        Kind("index-number", both(indexed("x"), written(files.INDEX, "3")), "damaged_file"),
        Kind("index-many", written(files.INDEX, MANY_SHARDS), "too_many_files"),
        Kind("index-list", written(files.INDEX, '{"weight_map": []}'), "damaged_file"),
        Kind("pipe", a_pipe("tokenizer.json"), "file_outside"),
        Kind("endless", linked("tokenizer.json", "/dev/zero"), "file_outside"),
        Kind("loop", linked("tokenizer.json", "tokenizer.json"), "file_outside"),
    ]


def _forms() -> list[Kind]:
    deep = "[" * 100_000
    return [
        Kind("config-list", written(CONFIG, "[]"), FORM),
        Kind("config-cut", written(CONFIG, '{"a": '), FORM),
        Kind("config-bytes", written(CONFIG, b"\xff\xfe\x00"), FORM),
        Kind("config-deep", written(CONFIG, '{"a": ' + deep), FORM),
        Kind("config-nested", written(CONFIG, '{"a":' * 60 + "1" + "}" * 60), OUT),
        Kind("config-digits", written(CONFIG, '{"hidden_size": ' + "9" * 5000 + "}"), FORM),
        Kind("config-empty", written(CONFIG, "{}"), "cannot_load"),
        Kind(
            "type-unknown", set_json(CONFIG, model_type="hal9000", architectures=[]), "cannot_load"
        ),
        Kind("type-number", set_json(CONFIG, model_type=3), "cannot_load"),
        Kind("layers-text", set_json(CONFIG, num_hidden_layers="two"), "cannot_load"),
        Kind("layers-none", set_json(CONFIG, num_hidden_layers=None), "cannot_load"),
        Kind("heads-zero", set_json(CONFIG, num_attention_heads=0), "cannot_load"),
        Kind("heads-negative", set_json(CONFIG, num_attention_heads=-1), OUT),
        Kind("template-long", written("chat_template.jinja", "x" * (2**20 + 1)), OUT),
        Kind("template-numbers", set_json(ARGUMENTS, chat_template=[10**9]), FORM),
        Kind("activation", set_json(CONFIG, hidden_act="os.system"), "cannot_load"),
        Kind("map", set_json(CONFIG, id2label=3), FORM),
        Kind(
            "quantised", set_json(CONFIG, quantization_config={"quant_method": "fp8"}), "quantised"
        ),
        Kind("tokenizer-list", written("tokenizer.json", "[]"), FORM),
        Kind("tokenizer-empty", written("tokenizer.json", "{}"), FORM),
        Kind("tokenizer-model", in_tokenizer(model=[]), FORM),
        Kind("normaliser", in_tokenizer(normalizer=[]), FORM),
        Kind("normaliser-items", in_tokenizer(normalizer={"normalizers": [3]}), FORM),
        Kind("length-endless", set_json(ARGUMENTS, model_max_length=float("inf")), FORM),
        Kind("added-form", in_tokenizer(added_tokens={"a": 3}), FORM),
    ]


def _tokenizers() -> list[Kind]:
    many = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    template = {"type": "TemplateProcessing", "single": [many] * 10**5}
    return [
        Kind("growth", in_tokenizer(normalizer=_replaced(9)), OUT),
        Kind("growth-once", in_tokenizer(normalizer=_replaced(1, "a" * HUGE_TEXT)), OUT),
        Kind(
            "growth-decoder",
            in_tokenizer(decoder={"type": "Sequence", "decoders": _replaced(9)["normalizers"]}),
            OUT,
        ),
        Kind(
            "prepended", in_tokenizer(normalizer={"type": "Prepend", "prepend": "a" * 10**5}), OUT
        ),
        Kind("normalisers", in_tokenizer(normalizer=_replaced(100, "b")), OUT),
        Kind("nested", in_tokenizer(normalizer=_nested(60)), OUT),
        Kind("added", in_tokenizer(added_tokens=_added(30_000)), OUT),
        Kind("template", in_tokenizer(post_processor=template), OUT),
        Kind(
            "padding",
            in_tokenizer(padding={"strategy": {"Fixed": HUGE}, "direction": "Right"}),
            OUT,
        ),
        Kind(
            "added-map",
            set_json("added_tokens.json", **{f"<{n}>": n for n in range(30_000)}),
            OUT,
        ),
        Kind("token-long", set_json(ARGUMENTS, mask_token="x" * 10**6), OUT),
    ]


HUGE_TEXT = 10**6


def _weights() -> list[Kind]:
    def first(change: Callable[[torch.Tensor], torch.Tensor]) -> Change:
        return tensors(
            lambda stored: {
                name: change(tensor) if n == 0 else tensor
                for n, (name, tensor) in enumerate(sorted(stored.items()))
            }
        )

    return [
        Kind("weights-none", tensors(lambda _: {}), "weights_missing"),
        Kind("weights-two", tensors(lambda s: dict(sorted(s.items())[:2])), "weights_missing"),
        Kind("weights-one-less", tensors(lambda s: dict(sorted(s.items())[1:])), "weights_missing"),
        Kind("weights-shape", first(lambda tensor: tensor[..., :1]), "weights_shape"),
        Kind("weights-whole", first(lambda tensor: tensor.long()), "weights_type"),
        Kind("weights-bool", first(lambda tensor: tensor > 0), "weights_type"),
        Kind("layers-fewer", set_json(CONFIG, num_hidden_layers=1), "weights_surplus"),
        Kind("layers-more", set_json(CONFIG, num_hidden_layers=3), "weights_missing"),
        Kind("width", set_json(CONFIG, intermediate_size=40), "weights_shape"),
        Kind("header", written(files.WEIGHTS, struct.pack("<Q", 2**60) + b"{}"), "damaged_file"),
        Kind("no-bytes", written(files.WEIGHTS, b""), "damaged_file"),
    ]


KINDS = (*_sizes(), *_files(), *_forms(), *_tokenizers(), *_weights())
