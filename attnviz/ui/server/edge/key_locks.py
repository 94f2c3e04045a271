"""A cache's lock of a key lives as long as somebody holds it or waits for it.

Streamlit makes a lock for every key that a cache has ever computed, so that two visitors do not
compute the same value, and keeps it when the value is let go: a server would grow with every text
that was ever read on it.
"""

import threading
from typing import Any
from weakref import WeakValueDictionary

from streamlit.runtime.caching.cache_utils import Cache

LOCKS = "_value_locks"
MAKE = "__init__"
_begin = Cache.__init__


class KeyLocks(WeakValueDictionary[str, threading.Lock]):
    """The lock of each key, made when it is asked for, that someone still has."""

    def __getitem__(self, key: str) -> threading.Lock:
        lock = self.get(key)
        if lock is None:
            lock = self[key] = threading.Lock()
        return lock


def keep_few() -> None:
    """Have the caches that are made from now on forget the locks that nobody has."""
    setattr(Cache, MAKE, begin)


def begin(cache: Cache[Any]) -> None:
    """Make a cache, with such locks."""
    _begin(cache)
    setattr(cache, LOCKS, KeyLocks())
