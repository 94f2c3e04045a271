"""The exports of attnviz: capture files, numbers and figures; and captures made from other tools.

`save` writes a file by the ending of its name: its table `ENDINGS` lists every format.
`capture_file` reads a capture back without its model, `tables` writes weights as numbers,
`figures` draws for print, `saved_page` makes a page that browsers open, `surveys` the files of a
survey, and `from_tools` makes a capture of tensors that another tool kept. A file is written whole
or not at all (`replacing`). Nothing here runs a model or reaches a network.
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
