"""Fetch a hub model's files before anything reads them, and say how far that is, in bytes.

In: a hub id. Out: nothing; its files are in the hub's own cache, where transformers finds them.
Only what is loaded is fetched: safetensors under their standard names, and the small texts beside
them; no pickle, no code. The size is checked before the first byte of a weight.
"""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Any

from huggingface_hub import HfApi, try_to_load_from_cache
from huggingface_hub.hf_api import ModelInfo

from attnviz.errors import ModelNotFound
from attnviz.models import files

Progress = Callable[[int, int], None]
WANTED = re.compile(r"[^/]+\.(json|txt|model|jinja)|model(-\d+-of-\d+)?\.safetensors")


def fetch(name: str, revision: str | None, progress: Progress) -> None:
    """Download what is not here yet; `progress` hears (bytes so far, bytes in all) on the way.

    Where the hub cannot be asked, a model that was downloaded before is taken as it is.
    Raises `ModelNotFound` for an id that the hub does not have or that cannot be reached, and
    `TooLarge` for weights over the operator's limit.
    """
    info, hub = asked(name, revision), HfApi()
    if info is None:
        return
    files.check_size(weights_mib(info), name)
    wanted = {
        of.rfilename: of.size or 0
        for of in info.siblings or ()
        if WANTED.fullmatch(of.rfilename) is not None
    }
    total, done = sum(wanted.values()), 0
    for file, size in wanted.items():
        meter = _meter(partial(_tell, progress, done, total))
        try:
            hub.hf_hub_download(name, file, revision=revision, tqdm_class=meter)
        except Exception as error:  # the hub's client lets its transport's errors through
            raise _unreachable(name, error) from error
        done += size
        progress(done, total)


def _tell(progress: Progress, before: int, total: int, n: int) -> None:
    progress(min(before + n, total), total)


def asked(name: str, revision: str | None) -> ModelInfo | None:
    """What the hub says of a model, its files' sizes included.

    None where it cannot be asked about a model that is here; `ModelNotFound` for any other.
    """
    try:
        return HfApi().model_info(name, revision=revision, files_metadata=True)
    except Exception as error:  # the hub's client lets its transport's errors through
        if isinstance(try_to_load_from_cache(name, files.CONFIG, revision=revision), str):
            return None
        raise _unreachable(name, error) from error


def weights_mib(info: ModelInfo) -> int:
    """About what a hub model's weights take."""
    weights = [file for file in info.siblings or () if file.rfilename.endswith(".safetensors")]
    return sum(file.size or 0 for file in weights) // files.MIB


def _unreachable(name: str, error: Exception) -> ModelNotFound:
    reason = files.first_line(error)
    return ModelNotFound(
        f"the hub could not be asked about {name!r}: {reason}. Check the id and the connection",
        code="hub_unreachable",
        asked=name,
        reason=reason,
    )


def _meter(tell: Callable[[int], None]) -> Any:
    """What the hub's client makes in place of a progress bar; one for each file."""

    def made(*_: object, initial: int = 0, total: int | None = None, **_more: object) -> _Meter:
        return _Meter(tell, initial, total)

    # asks for one bar where the client would make two: one of bytes sent, one of bytes written
    made.update_transfer = _Meter.refresh  # type: ignore[attr-defined]
    return made


class _Meter(AbstractContextManager["_Meter"]):
    """Counts the bytes of one file; it has the parts of a progress bar that the client uses."""

    def __init__(self, tell: Callable[[int], None], initial: int, total: int | None) -> None:
        self.n, self.total, self._tell = initial, total, tell
        self.format_dict: dict[str, float | None] = {"rate": None}

    def update(self, n: int | float | None = 1) -> None:
        """So many bytes more."""
        self.n += int(n or 0)
        self._tell(self.n)

    def refresh(self, *_: object, **_more: object) -> None:
        """Nothing is drawn here."""

    set_postfix_str = set_description = update_transfer = close = refresh

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()
