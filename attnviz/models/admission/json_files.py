"""A model's JSON files as plain data, and the refusals that name a file and a field of it.

In: the bytes of a file. Out: its object, no deeper than what an honest file needs. A field is named
by its keys with dots between them, as `text_config.num_hidden_layers`.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from attnviz.errors import ModelNotFound

Json = dict[str, Any]
Rule = Callable[[str, Json], Json]  # the name of a file, its object → what is kept of it

MAX_DEPTH = 48
MAX_SHOWN = 60
SIGN_BITS = 63


def parse(file: str, data: bytes) -> Json:
    """The object in a JSON file; `ModelNotFound` for anything else, and for one that is nested."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise wrong_form(file, "") from error
    if not isinstance(value, dict):
        raise wrong_form(file, "")
    _require_shallow(file, value)
    return value


def _require_shallow(file: str, value: Json) -> None:
    waiting: list[tuple[Any, int]] = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise out_of_range(file, "{…}", depth, 1, MAX_DEPTH)
        if isinstance(item, dict | list):
            inner = item.values() if isinstance(item, dict) else item
            waiting += [(child, depth + 1) for child in inner if isinstance(child, dict | list)]


def walk(value: Any, key: str = "", path: str = "") -> Iterator[tuple[str, str, Any]]:
    """(path, last key, value) of every entry; an item of a list has the key of its list."""
    yield path, key, value
    if isinstance(value, dict):
        for name, child in value.items():
            yield from walk(child, name, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for child in value:
            yield from walk(child, key, path)


def require_at_most(file: str, field: str, value: object, most: int) -> None:
    """Raise unless every whole number in the value is at most `most`, whatever its sign."""
    if isinstance(value, int) and abs(value) > most:
        raise out_of_range(file, field, value, 0, most)


def require_count(file: str, field: str, value: object, most: int) -> None:
    """Raise unless a list, an object or a text has at most `most` entries; nothing has none."""
    if value is None:
        return
    if not isinstance(value, dict | list | str):
        raise wrong_form(file, field)
    if len(value) > most:
        raise out_of_range(file, field, len(value), 0, most)


def objects(file: str, field: str, value: object, most: int) -> list[Json]:
    """A list of objects with at most `most` of them; nothing is an empty list."""
    require_count(file, field, value, most)
    items = value or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise wrong_form(file, field)
    return items


def not_allowed(file: str, field: str) -> ModelNotFound:
    """The error about a field that could make a library read other files or run other code."""
    field = _shown(field)
    return ModelNotFound(
        f"{file} of this model sets {field}, which attnviz does not allow, because it can make a"
        " library read other files or run other code; remove it from the file",
        code="field_not_allowed",
        file=file,
        field=field,
    )


def out_of_range(file: str, field: str, found: int, least: int, most: int) -> ModelNotFound:
    """The error about a number, or a number of entries, that no honest model needs."""
    field, bits = _shown(field), abs(found).bit_length()
    digits = str(found) if bits <= SIGN_BITS else f"2^{bits - 1}"
    return ModelNotFound(
        f"{file} of this model has {digits} in {field}, and attnviz allows {least} to {most}",
        code="field_out_of_range",
        file=file,
        field=field,
        found=digits,
        least=least,
        most=most,
    )


def wrong_form(file: str, field: str) -> ModelNotFound:
    """The error about a file, or a field of it, that is not written as it should be."""
    field = _shown(field) or "{}"
    return ModelNotFound(
        f"{file} of this model cannot be read at {field}: it does not have the form that"
        " save_pretrained() writes",
        code="field_wrong_form",
        file=file,
        field=field,
    )


def _shown(field: str) -> str:
    return field if len(field) <= MAX_SHOWN else f"{field[:MAX_SHOWN]}…"
