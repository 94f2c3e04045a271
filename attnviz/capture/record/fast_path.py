"""torch's fast path for attention modules, switched off while anyone watches them.

In: threads that watch. Out: torch's switch as it was before the first of them. The fast path is one
opaque operation; the switch belongs to the process, while models are recorded in several threads.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class _FastPath:
    """Counts the watchers, so that the last one to go puts the switch back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers = 0
        self._was_enabled = True

    @contextmanager
    def off(self) -> Iterator[None]:
        """While the block runs, torch's attention modules compute in steps that can be seen."""
        with self._lock:
            if self._watchers == 0:
                self._was_enabled = torch.backends.mha.get_fastpath_enabled()
                torch.backends.mha.set_fastpath_enabled(False)
            self._watchers += 1
        try:
            yield
        finally:
            with self._lock:
                self._watchers -= 1
                if self._watchers == 0:
                    torch.backends.mha.set_fastpath_enabled(self._was_enabled)


fast_path = _FastPath()
