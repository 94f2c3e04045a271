"""A capture as one safetensors file, and back without its model.

`write` and `read` are the two directions; `fields` reads untrusted JSON, `storages` keeps every
piece of memory once, `parts` and `calls` write and check what the JSON says of them. Tensors stand
in the file as flat arrays `s0`, `s1`, …; the JSON in the metadata entry `attnviz` says which view
of which array is the query of a call, and everything that is not a tensor. In an address of the app
the digest of a file stands for it: 32 hexadecimal digits, which nobody can guess.
"""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from attnviz.types import MIB

# the environment variable in which an operator names a file that the app opens
VARIABLE = "ATTNVIZ_CAPTURE"
DIGITS = 32
BLOCK_BYTES = MIB


def digest_of_bytes(data: bytes) -> str:
    """The digest of a file's bytes."""
    return sha256(data).hexdigest()[:DIGITS]


def digest_of_file(path: str | Path) -> str:
    """The digest of a file as it is now; "" for one that cannot be read."""
    try:
        state = Path(path).stat()
        return _digest(str(path), state.st_mtime_ns, state.st_size)
    except OSError:
        return ""


@lru_cache(maxsize=1)
def _digest(path: str, _changed_ns: int, _size: int) -> str:
    hashed = sha256()
    with Path(path).open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            hashed.update(block)
    return hashed.hexdigest()[:DIGITS]
