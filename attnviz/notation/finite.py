"""Numbers that JSON can hold: it has neither NaN nor ∞.

In: a value of lists, mappings and numbers. Out: the same with null where a number is not finite.
"""

import math
from collections.abc import Mapping


def finite(value: object) -> object:
    """The same value with null for every number that JSON cannot hold: NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): finite(part) for name, part in value.items()}
    return [finite(part) for part in value] if isinstance(value, list | tuple) else value
