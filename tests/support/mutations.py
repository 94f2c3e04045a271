"""JSON and bytes that were changed at random: any value may stand anywhere."""

import copy
import json
import random
from collections.abc import Sequence
from typing import Any

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 3, 10**5, 10**9, 10**40, 0.5, float("inf"), "", "x", "/etc/passwd"),
    *("../../x", [], [1, 2], [[]], {}, {"a": {}}, "a" * 5000, "\ud800", "{{ 7 * 7 }}", "\0"),
)
TAILS = ("", "}", "\0", "[" * 2000, "1e999", '"')


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    here = [(value, key) for key in keys]
    inner = [value[key] for key in keys if isinstance(value[key], dict | list)]
    return here + [place for child in inner for place in places(child)]


def mutated(rng: random.Random, raw: str, names: Sequence[str]) -> str:
    """A JSON text with one to three changes; once in ten times, cut or with a wrong end.

    `names` are those of entries that may be added.
    """
    if rng.random() < 0.1:
        return raw[: rng.randrange(len(raw))] + rng.choice(TAILS)
    value = json.loads(raw)
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice(places(value) or [(value, "a")])
        change = rng.random()
        if change < 0.6:
            # a value of its own: one that two files share would hold what both put into it
            container[key] = copy.deepcopy(rng.choice(VALUES))
        elif change < 0.8 and isinstance(container, dict):
            container[rng.choice(names)] = copy.deepcopy(rng.choice(VALUES))
        elif isinstance(container, dict):
            container.pop(key, None)
    return json.dumps(value)


def flipped(rng: random.Random, data: bytes) -> bytes:
    """The bytes, with a few of them changed, or cut."""
    if rng.random() < 0.2:
        return data[: rng.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)
