"""The heap of the server's process: few arenas, and what is free goes back to the system.

glibc gives threads arenas of their own, up to eight for each core, and each keeps the gaps between
what is in use. A page run is a thread, so a server spreads its memory over all of them. Two are
enough where one thread at a time runs Python. Other C libraries have neither.
"""

import ctypes
import os
from contextlib import suppress
from typing import Any

LIBRARY = "libc.so.6"
M_ARENA_MAX = -8  # malloc.h
MAX_ARENAS = 2
VARIABLE = "MALLOC_ARENA_MAX"  # glibc's own, for an operator who wants another number


def keep_few_arenas() -> None:
    """Bound the arenas, unless the operator did; before the threads of a server have made more."""
    if VARIABLE not in os.environ:
        with suppress(OSError, AttributeError):
            _library().mallopt(M_ARENA_MAX, MAX_ARENAS)


def give_back() -> None:
    """Give the pages that hold nothing back to the system."""
    with suppress(OSError, AttributeError):
        _library().malloc_trim(0)


def _library() -> Any:
    return ctypes.CDLL(LIBRARY)
