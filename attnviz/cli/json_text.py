"""The output of a command with `--json`: one line that any program can parse.

In: plain values. Out: JSON, with null for every number that JSON cannot hold.
"""

import math


def json_line(value: object) -> str:
    """The value as JSON on one line."""
    import json  # a help text starts without it

    return json.dumps(finite(value), allow_nan=False)


def finite(value: object) -> object:
    """The same value with null for every number that JSON cannot hold: NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return value
