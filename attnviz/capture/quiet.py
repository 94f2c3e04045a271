"""Keeps transformers' warnings out of captures: the caller of attnviz can do nothing about them.

In: a block of code. Out: the same, without warnings from transformers' own logger in this thread;
errors, other threads and other loggers are left alone.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LOGGER = "transformers"
_is_quiet: ContextVar[bool] = ContextVar("attnviz_quiet", default=False)


class _Silencer(logging.Filter):
    """Lets only errors pass while a capture runs in this thread."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR or not _is_quiet.get()


SILENCER = _Silencer()


@contextmanager
def without_warnings() -> Iterator[None]:
    """While the block runs, warnings that transformers logs in this thread are dropped."""
    for handler in logging.getLogger(LOGGER).handlers:
        handler.addFilter(SILENCER)  # it stays: adding it again changes nothing
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)
