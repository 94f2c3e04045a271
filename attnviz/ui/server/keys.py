"""Cache keys: short, and different wherever the values are.

In: texts and options of a capture. Out: keys for `cache`.
"""

from hashlib import sha256

MAX_KEY_CHARS = 2000


def short(key: str) -> str:
    """The key, or its digest if it is long: it is hashed for each of a text's hundred buffers."""
    return key if len(key) <= MAX_KEY_CHARS else sha256(key.encode("utf-8")).hexdigest()


def key_part(value: object) -> str:
    """An argument as part of a key; a picture is represented by its bytes."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(key_part, value))}]"
    pixels = getattr(value, "tobytes", None)
    return repr(value) if pixels is None else sha256(pixels()).hexdigest()
