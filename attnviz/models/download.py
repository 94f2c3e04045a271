"""Download of a hub model's files, with progress in bytes.

In: a hub id. Out: a `Snapshot`, the folder in the hub's own cache with the files of one commit. The
hub is asked once which commit a revision is and how large its files are; that commit is measured,
fetched and loaded. Only what is loaded is fetched: safetensors under their standard names, and the
small files beside them; no pickle, no code. Sizes and the number of files are checked before any
byte of a weight.
"""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from huggingface_hub import HfApi, constants, get_session, try_to_load_from_cache
from huggingface_hub.errors import HFValidationError
from huggingface_hub.hf_api import ModelInfo

from attnviz.errors import AttnVizError, ModelNotFound, TooLarge
from attnviz.models import files
from attnviz.models.admission.sealed_copy import JSON_RULES, PLAIN, require_small
from attnviz.types import MIB

Progress = Callable[[int, int], None]
WEIGHTS = re.compile(r"model(-\d+-of-\d+)?\.safetensors")
BESIDE = frozenset((*JSON_RULES, *PLAIN, files.INDEX))
# the client keeps what it was sent, whatever the hub said before that a file has
MAX_SURPLUS_BYTES = MIB
COMMIT = re.compile(r"[0-9a-f]{40}")
PLAIN_TAG = re.compile(r'(W/)?"?\w[\w.=+-]{0,127}"?', re.ASCII)


@dataclass(frozen=True)
class Snapshot:
    """The files of one commit of a hub model, on this machine."""

    folder: Path

    @property
    def commit(self) -> str:
        return self.folder.name


def fetch(name: str, revision: str | None = None, progress: Progress | None = None) -> Snapshot:
    """Download the files that are missing; `progress` is called with (bytes so far, total bytes).

    If the hub cannot be reached, a model that was downloaded before is used as it is.
    Raises `ModelNotFound` for an id that does not exist or cannot be reached and for one without
    safetensors, and `TooLarge` for weights over the operator's limit or in too many files.
    """
    try:
        info = HfApi().model_info(name, revision=revision, files_metadata=True)
    except Exception as error:  # the hub's client lets its transport's errors through
        snapshot = here(name, revision)
        if snapshot is None:
            raise _unreachable(name, error) from error
        return snapshot
    sizes, commit = _file_sizes(info), _commit(name, info)
    weights = sum(size for file, size in sizes.items() if WEIGHTS.fullmatch(file))
    files.check_size(weights // MIB, name)
    _require_room(sum(sizes.values()))
    snapshot = Snapshot(_fetched(name, commit, sizes, progress or (lambda _done, _total: None)))
    _remember(snapshot, revision or constants.DEFAULT_REVISION)
    return snapshot


def here(name: str, revision: str | None = None) -> Snapshot | None:
    """A model whose files are all on this machine, else None; the hub is not asked.

    Raises `ModelNotFound` for an id that the hub would not allow, and for a damaged index.
    """
    try:
        config = try_to_load_from_cache(name, files.CONFIG, revision=revision)
    except HFValidationError as error:
        raise _unreachable(name, error) from error
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    try:
        weights = files.weight_files(folder)
    except AttnVizError as error:  # nobody asked for the place in the cache
        raise error.worded(str(folder), name).worded(folder.name, name) from error
    complete = bool(weights) and all(file.is_file() for file in weights)
    return Snapshot(folder) if complete else None


def _file_sizes(info: ModelInfo) -> dict[str, int]:
    """The sizes in bytes of the files that are loaded.

    Raises `ModelNotFound` without weights, and `TooLarge` for too many or too large ones.
    """
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    loaded = {
        name: size for name, size in sizes.items() if WEIGHTS.fullmatch(name) or name in BESIDE
    }
    n_weights = sum(1 for name in loaded if WEIGHTS.fullmatch(name))
    if not n_weights:
        raise files.without_weights(info.id, tuple(sizes))
    files.check_count(n_weights, info.id)
    small = sum(size for name, size in loaded.items() if not WEIGHTS.fullmatch(name))
    require_small(small)
    return loaded


def _require_room(n_bytes: int) -> None:
    """Raise `TooLarge` if the hub's cache would grow over the operator's limit."""
    limit = files.setting(files.CACHE_VARIABLE, files.DEFAULT_CACHE_MIB)
    blobs = Path(constants.HF_HUB_CACHE).glob("models--*/blobs/*")
    total = (n_bytes + sum(blob.stat().st_size for blob in blobs)) // MIB
    if total > limit:
        raise TooLarge(
            f"the downloaded models would take {total} MiB on this machine and the limit is {limit}"
            f" MiB; remove some from the hub's cache, or set {files.CACHE_VARIABLE}",
            code="downloads_full",
            found=total,
            limit=limit,
            unit="MiB",
        )


def _commit(name: str, info: ModelInfo) -> str:
    """The commit that the hub names; it becomes a folder's name, so its form is checked."""
    commit = info.sha or ""
    if not COMMIT.fullmatch(commit):
        raise _unreachable(name, ValueError(f"its answer names {commit!r} in place of a commit"))
    return commit


def _fetched(name: str, commit: str, sizes: dict[str, int], progress: Progress) -> Path:
    """The folder with the files of the commit; files that are here already cost no request."""
    hub, total, done = HfApi(), sum(sizes.values()), 0
    for file, size in sizes.items():
        meter = _meter(partial(_tell, progress, done, total, size))
        try:
            with _plain_tags():
                path = hub.hf_hub_download(name, file, revision=commit, tqdm_class=meter)
        except Exception as error:  # the hub's client lets its transport's errors through
            raise _unreachable(name, error) from error
        done += size
        progress(done, total)
    return Path(path).parent


@contextmanager
def _plain_tags() -> Iterator[None]:
    """Refuse an answer whose ETag is no plain word: the hub's client names a file after it.

    Every answer is looked at, as the client asks by itself: a tag such as "../../x" would have it
    write outside its cache.
    """
    hooks = get_session().event_hooks["response"]
    hooks.append(_require_plain_tag)
    try:
        yield
    finally:
        hooks.remove(_require_plain_tag)


def _require_plain_tag(response: Any) -> None:
    for header in ("ETag", "X-Linked-ETag"):
        tag = response.headers.get(header, "")
        if tag and not PLAIN_TAG.fullmatch(tag):
            raise ValueError(f"its answer has the {header} {tag[:80]!a}")


def _remember(snapshot: Snapshot, revision: str) -> None:
    """Write the commit of a revision where the hub's cache keeps it, for use without the hub."""
    refs = snapshot.folder.parent.parent / "refs"
    ref = refs / revision
    if revision == snapshot.commit or not ref.resolve().is_relative_to(refs.resolve()):
        return
    if ref.is_file() and ref.read_text(encoding="utf-8") == snapshot.commit:
        return
    ref.parent.mkdir(parents=True, exist_ok=True)
    draft = ref.with_name(f"{ref.name}.{uuid.uuid4().hex}")
    draft.write_text(snapshot.commit, encoding="utf-8")
    draft.replace(ref)  # a reader finds the old commit or the new one, never half of it


def _tell(progress: Progress, before: int, total: int, size: int, n: int) -> None:
    if n > size + MAX_SURPLUS_BYTES:
        raise ValueError(f"a file of {size} bytes did not end after {n}")
    progress(min(before + n, total), total)


def _unreachable(name: str, error: Exception) -> ModelNotFound:
    reason = files.first_line(error)
    return ModelNotFound(
        f"the hub gave no files for {name!r}: {reason}. Check the id and the connection",
        code="hub_unreachable",
        asked=name,
        reason=reason,
    )


def _meter(tell: Callable[[int], None]) -> Any:
    """A factory of meters, one for each file, that the hub's client calls for progress bars."""

    def meter(*_: object, initial: int = 0, total: int | None = None, **_more: object) -> _Meter:
        return _Meter(tell, initial, total)

    # without this the client makes two bars: one of bytes sent, one of bytes written
    meter.update_transfer = _Meter.refresh  # type: ignore[attr-defined]
    return meter


class _Meter(AbstractContextManager["_Meter"]):
    """Counts the bytes of one file, with the methods of a progress bar that the client calls."""

    def __init__(self, tell: Callable[[int], None], initial: int, total: int | None) -> None:
        self.n, self.total, self._tell = initial, total, tell
        self.format_dict: dict[str, float | None] = {"rate": None}

    def update(self, n: int | float | None = 1) -> None:
        """Count `n` more bytes."""
        self.n += int(n or 0)
        self._tell(self.n)

    def refresh(self, *_: object, **_more: object) -> None:
        """Draw nothing."""

    set_postfix_str = set_description = update_transfer = close = refresh

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()
