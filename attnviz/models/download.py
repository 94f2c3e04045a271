"""Bring a hub model's files here, and say how far that is, in bytes.

In: a hub id. Out: a `Snapshot`, the folder in the hub's own cache with the files of one commit. The
hub is asked once which commit a revision is and how large its files are; what is measured, fetched
and loaded is that commit. Only what is loaded is fetched: safetensors under their standard names,
and the small files beside them; no pickle, no code. Sizes are checked before any byte of a weight.
"""

import re
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from huggingface_hub import HfApi, constants, try_to_load_from_cache
from huggingface_hub.hf_api import ModelInfo

from attnviz.errors import ModelNotFound
from attnviz.models import files

Progress = Callable[[int, int], None]
WEIGHTS = re.compile(r"model(-\d+-of-\d+)?\.safetensors")
BESIDE = re.compile(r"[^/]+\.(json|txt|model|jinja|spm|codes)")
COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Snapshot:
    """The files of one commit of a hub model, on this machine."""

    folder: Path

    @property
    def commit(self) -> str:
        return self.folder.name


def fetch(name: str, revision: str | None = None, progress: Progress | None = None) -> Snapshot:
    """Download what is not here yet; `progress` hears (bytes so far, bytes in all) on the way.

    Where the hub cannot be asked, a model that was downloaded before is taken as it is.
    Raises `ModelNotFound` for an id that the hub does not have or that cannot be reached and for
    one without safetensors, and `TooLarge` for weights over the operator's limit.
    """
    try:
        info = HfApi().model_info(name, revision=revision, files_metadata=True)
    except Exception as error:  # the hub's client lets its transport's errors through
        found = here(name, revision)
        if found is None:
            raise _unreachable(name, error) from error
        return found
    sizes, commit = _wanted(info), _commit(name, info)
    files.check_size(_weights_mib(sizes), name)
    found = Snapshot(_fetched(name, commit, sizes, progress or _silent))
    _remember(found, revision or constants.DEFAULT_REVISION)
    return found


def here(name: str, revision: str | None = None) -> Snapshot | None:
    """A model that is whole on this machine; the hub is not asked."""
    config = try_to_load_from_cache(name, files.CONFIG, revision=revision)
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    weights = files.weight_files(folder)
    whole = bool(weights) and all(file.is_file() for file in weights)
    return Snapshot(folder) if whole else None


def _wanted(info: ModelInfo) -> dict[str, int]:
    """The files that are loaded, and their sizes in bytes; `ModelNotFound` without weights."""
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    wanted = {
        name: size
        for name, size in sizes.items()
        if WEIGHTS.fullmatch(name) or BESIDE.fullmatch(name)
    }
    if not any(map(WEIGHTS.fullmatch, wanted)):
        raise files.without_weights(info.id, tuple(sizes))
    return wanted


def _commit(name: str, info: ModelInfo) -> str:
    """The commit that the hub names; it becomes a folder, so it has to look like one."""
    commit = info.sha or ""
    if not COMMIT.fullmatch(commit):
        raise _unreachable(name, ValueError(f"its answer names no commit but {commit!r}"))
    return commit


def _weights_mib(sizes: dict[str, int]) -> int:
    return sum(size for name, size in sizes.items() if WEIGHTS.fullmatch(name)) // files.MIB


def _fetched(name: str, commit: str, sizes: dict[str, int], progress: Progress) -> Path:
    """The folder in which the files of the commit are; those that are here cost no request."""
    hub, total, done = HfApi(), sum(sizes.values()), 0
    for file, size in sizes.items():
        meter = _meter(partial(_tell, progress, done, total))
        try:
            path = hub.hf_hub_download(name, file, revision=commit, tqdm_class=meter)
        except Exception as error:  # the hub's client lets its transport's errors through
            raise _unreachable(name, error) from error
        done += size
        progress(done, total)
    return Path(path).parent


def _remember(found: Snapshot, revision: str) -> None:
    """Write down which commit a revision was, as the hub's cache does, for when it is not asked."""
    refs = found.folder.parent.parent / "refs"
    ref = refs / revision
    if revision == found.commit or not ref.resolve().is_relative_to(refs.resolve()):
        return
    if ref.is_file() and ref.read_text(encoding="utf-8") == found.commit:
        return
    ref.parent.mkdir(parents=True, exist_ok=True)
    made = ref.with_name(f"{ref.name}.{uuid.uuid4().hex}")
    made.write_text(found.commit, encoding="utf-8")
    made.replace(ref)  # whoever reads meanwhile finds the old commit or the new one


def _silent(_done: int, _total: int) -> None:
    """For those who do not ask how far it is."""


def _tell(progress: Progress, before: int, total: int, n: int) -> None:
    progress(min(before + n, total), total)


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
