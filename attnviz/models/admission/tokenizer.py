"""The rules for a tokenizer's files: `tokenizer_config.json`, `tokenizer.json` and those beside.

In: the object of the file. Out: the same without arguments that attnviz does not pass on; or an
error. Libraries take every field of `tokenizer_config.json` and `special_tokens_map.json` as an
argument of the tokenizer, the names of files too, and turn each line of such a file into a token.
"""

import re
from math import isfinite
from typing import Any

from attnviz.models.admission import json_files as js
from attnviz.models.admission.json_files import Json

MAX_ADDED = 20_000
MAX_VOCABULARY = 2**22
MAX_STEPS = 64  # normalisers, pre-tokenisers and decoders of one tokenizer
MAX_GROWTH = 128  # of a text, by its normalisers
MAX_PIECES = 1024  # of a template around a text
MAX_TOKEN_CHARS = 4096
MAX_PADDING = 2**20
MAX_TEMPLATE_CHARS = 2**20
# a tokenizer that is built from these reads whatever file they name
SOURCES = re.compile(r"vocab|merges|(vocab|merges|spm|codes|emoji)_file|init_inputs|source_spm")
# written by save_pretrained() on the author's machine and read by nobody
FORGOTTEN = re.compile(r".*_(file|path|dir|map|kwargs|map_file)|.*spm|auto_map|name_or_path")
# arguments that are texts, lists or objects and that tokenizers need
KEPT = re.compile(
    r".*_token|.*_tokens|added_tokens_decoder|chat_template|(tokenizer|processor)_class|backend"
    r"|(padding|truncation)_side|(padding|truncation)(_strategy)?|model_input_names|errors"
    r"|language|task|predict_timestamps|(src|tgt|source|target)_lang|problem_type|never_split"
    r"|(word_|subword_)?tokenizer_type|legacy_behaviour|model_specific_special_tokens"
    r"|language_codes|additional_languages|lang_codes|prompt_type|extra_ids"
)
GROWING = {"Replace", "Prepend", "Precompiled"}


def admit_arguments(file: str, arguments: Json) -> Json:
    """The arguments without those that are not passed on; raises for the source of a vocabulary."""
    kept: Json = {}
    for name, value in arguments.items():
        if SOURCES.fullmatch(name):
            if value:
                raise js.not_allowed(file, name)
        elif not isinstance(value, str | list | dict):
            if isinstance(value, float) and not isfinite(value):
                raise js.wrong_form(file, name)
            js.require_at_most(file, name, value, 10**40 if "max_length" in name else 2**31)
            kept[name] = value
        elif KEPT.fullmatch(name) and not FORGOTTEN.fullmatch(name):
            _require_small(file, name, value)
            kept[name] = value
    return kept


def _require_small(file: str, name: str, value: Any) -> None:
    if name == "chat_template":
        for path, _, part in js.walk(value, name, name):
            js.require_count(file, path, part, MAX_TEMPLATE_CHARS)
        return
    js.require_count(file, name, value, MAX_ADDED)
    for path, _, part in js.walk(value, name, name):
        if isinstance(part, str):
            js.require_at_most(file, path, len(part), MAX_TOKEN_CHARS)


def admit_template(file: str, data: bytes) -> None:
    """`chat_template.jinja`: as long as a template inside `tokenizer_config.json` may be."""
    js.require_at_most(file, "chat_template", len(data), MAX_TEMPLATE_CHARS)


def admit_tokens(file: str, tokens: Json) -> Json:
    """`special_tokens_map.json`: names of special tokens with their texts, and nothing else."""
    for name, value in tokens.items():
        if not name.endswith(("_token", "_tokens")) or isinstance(value, bool | int | float):
            raise js.not_allowed(file, name)
        _require_small(file, name, value)
    return tokens


def admit_added(file: str, added: Json) -> Json:
    """`added_tokens.json`: texts with their places in the vocabulary."""
    js.require_count(file, "{}", added, MAX_ADDED)
    for name, value in added.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise js.wrong_form(file, name)
        js.require_at_most(file, name, value, MAX_VOCABULARY)
    return added


def admit_vocabulary(file: str, vocabulary: Json) -> Json:
    """`vocab.json` and the like: an object with as many entries as a vocabulary may have."""
    js.require_count(file, "{}", vocabulary, MAX_VOCABULARY)
    return vocabulary


def admit_fast(file: str, tokenizer: Json) -> Json:
    """`tokenizer.json`: what one short text can become is bounded."""
    added = js.objects(file, "added_tokens", tokenizer.get("added_tokens"), MAX_ADDED)
    for token in added:
        js.require_count(file, "added_tokens.content", token.get("content"), MAX_TOKEN_CHARS)
    model = tokenizer.get("model")
    if not isinstance(model, dict):
        raise js.wrong_form(file, "model")
    js.require_count(file, "model.vocab", model.get("vocab"), MAX_VOCABULARY)
    js.require_count(file, "model.merges", model.get("merges"), MAX_VOCABULARY)
    steps = [
        _steps(file, part, tokenizer.get(part))
        for part in ("normalizer", "pre_tokenizer", "decoder")
    ]
    _require_little_growth(file, "normalizer", steps[0])
    _require_little_growth(file, "decoder", steps[2])
    _require_small_template(file, tokenizer.get("post_processor"))
    for part in ("truncation", "padding"):
        for path, _, value in js.walk(tokenizer.get(part), part, part):
            js.require_at_most(file, path, value, MAX_PADDING)
    return tokenizer


def _steps(file: str, field: str, part: Any) -> list[Json]:
    """The steps of a part, those inside sequences in their place."""
    if part is None:
        return []
    if not isinstance(part, dict):
        raise js.wrong_form(file, field)
    inner = [part[name] for name in (f"{field}s", "pretokenizers", "processors") if name in part]
    if not inner:
        return [part]
    children = js.objects(file, field, inner[0], MAX_STEPS)
    steps = [step for child in children for step in _steps(file, field, child)]
    js.require_count(file, field, steps, MAX_STEPS)
    return steps


def _require_little_growth(file: str, field: str, steps: list[Json]) -> None:
    """Raise if these steps can make a text longer than `MAX_GROWTH` times."""
    growth = 1.0
    for step in steps:
        if step.get("type") not in GROWING:
            continue
        content = step.get("content", step.get("prepend", ""))
        if not isinstance(content, str):
            raise js.wrong_form(file, f"{field}.content")
        growth *= max(1.0, len(content) / _shortest_match(step.get("pattern")))
    if growth > MAX_GROWTH:
        raise js.out_of_range(file, field, int(min(growth, 1e18)), 1, MAX_GROWTH)


def _shortest_match(pattern: Any) -> int:
    """The least length of what a pattern replaces; 1 for an expression."""
    plain = pattern.get("String") if isinstance(pattern, dict) else None
    return max(1, len(plain)) if isinstance(plain, str) else 1


def _require_small_template(file: str, part: Any) -> None:
    for step in _steps(file, "post_processor", part):
        for name in ("single", "pair", "special_tokens"):
            js.require_count(file, f"post_processor.{name}", step.get(name), MAX_PIECES)
        for path, _, value in js.walk(step.get("special_tokens"), "", "post_processor"):
            if isinstance(value, list):
                js.require_count(file, path, value, MAX_PIECES)
