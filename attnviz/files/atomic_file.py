"""Files as they are written: whole or not at all.

In: a path. Out: an unfinished file beside it, which takes its place when everything is written. A
program that is stopped, or refused half-way, leaves what was there before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from attnviz.errors import cannot_write


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A new file to write, which replaces `path` at the end; `BadInput` where none can be made."""
    target = Path(path).resolve()
    unfinished = target.with_name(f".{uuid4().hex}{target.suffix}")
    try:
        unfinished.touch(exist_ok=False)
        try:
            yield unfinished
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
