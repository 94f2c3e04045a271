"""A private copy of a model's folder, in which nothing changes after the check.

In: a folder, and the directories that its files may lie in. Out: a `SealedFolder` for the time of a
`with` block: small files as they were checked, weights as links to the opened files themselves.
A link, a name or a swap that leads elsewhere is refused, or has no effect any more.
"""

import json
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from attnviz.errors import ModelNotFound, TooLarge
from attnviz.models import files
from attnviz.models.admission import config, json_files, processor, tokenizer
from attnviz.models.admission.json_files import Rule
from attnviz.types import MIB

MAX_SMALL_BYTES = 96 * MIB  # the largest tokenizer.json in use has 35
JSON_RULES: dict[str, Rule] = {
    "config.json": config.admit,
    "generation_config.json": config.admit,
    "tokenizer_config.json": tokenizer.admit_arguments,
    "special_tokens_map.json": tokenizer.admit_tokens,
    "added_tokens.json": tokenizer.admit_added,
    "tokenizer.json": tokenizer.admit_fast,
    "vocab.json": tokenizer.admit_vocabulary,
    "normalizer.json": tokenizer.admit_vocabulary,
    "preprocessor_config.json": processor.admit,
    "processor_config.json": processor.admit,
    "chat_template.json": tokenizer.admit_arguments,
}
TEMPLATE = "chat_template.jinja"
# read as they are: lists of tokens, and templates, which another process fills in
PLAIN = (
    *("vocab.txt", "merges.txt", "bpe.codes", "dict.txt", TEMPLATE),
    *("tokenizer.model", "spiece.model", "spm.model", "sentencepiece.bpe.model"),
    *("source.spm", "target.spm"),
)


@dataclass(frozen=True)
class SealedFolder:
    """A checked copy: `folder` is what libraries read, `n_bytes` the size of its weights."""

    folder: Path
    n_bytes: int


@contextmanager
def seal(folder: Path, within: Sequence[Path] | None = None) -> Iterator[SealedFolder]:
    """The checked copy of a folder; `within` bounds where its files really are, None does not.

    Raises `ModelNotFound` for a file or field that is not allowed, `TooLarge` for small files that
    are not small.
    """
    with ExitStack() as stack:
        copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attnviz-")))
        names = [name for name in (*JSON_RULES, *PLAIN) if os.path.lexists(folder / name)]
        left = MAX_SMALL_BYTES
        for name in names:
            data = _small_file(folder / name, within, left)
            left -= len(data)
            (copy / name).write_bytes(_admitted(name, data))
        n_bytes = 0
        for weights in files.weight_files(folder):
            descriptor = _opened(weights, within)
            stack.callback(os.close, descriptor)
            n_bytes += os.fstat(descriptor).st_size
            # to the opened file itself where the system has a path for it
            opened = Path(f"/proc/{os.getpid()}/fd/{descriptor}")
            (copy / weights.name).symlink_to(opened if opened.exists() else weights.resolve())
        if (folder / files.INDEX).is_file():
            index = {"metadata": {}, "weight_map": files.weight_map(folder)}
            (copy / files.INDEX).write_text(json.dumps(index), encoding="utf-8")
        yield SealedFolder(copy, n_bytes)


def _admitted(name: str, data: bytes) -> bytes:
    rule = JSON_RULES.get(name)
    if name == TEMPLATE:
        tokenizer.admit_template(name, data)
    if rule is None:
        return data
    parsed = json_files.parse(name, data)
    kept = rule(name, parsed)
    return data if kept is parsed else json.dumps(kept).encode("utf-8")


def _small_file(path: Path, within: Sequence[Path] | None, most: int) -> bytes:
    descriptor = _opened(path, within)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        require_small(MAX_SMALL_BYTES - most + path.stat().st_size)
    return data


def require_small(n_bytes: int) -> None:
    """Raise `TooLarge` if the small files of a model have so many bytes together."""
    if n_bytes > MAX_SMALL_BYTES:
        limit = MAX_SMALL_BYTES // MIB
        raise TooLarge(
            f"config, tokenizer and the files beside them have {n_bytes // MIB} MiB and the"
            f" limit is {limit} MiB; choose another model",
            code="small_files_too_large",
            found=n_bytes // MIB,
            limit=limit,
            unit="MiB",
        )


def _opened(path: Path, within: Sequence[Path] | None) -> int:
    """The descriptor of a regular file; raises if that is not where it may be.

    The place is looked at after the file was opened: what was swapped in between does not match.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        opened, place = os.fstat(descriptor), path.resolve(strict=True)
        is_there = os.path.samestat(opened, place.stat(follow_symlinks=False))
    except (OSError, RuntimeError, ValueError) as error:
        raise _outside(path.name) from error
    inside = within is None or any(place.is_relative_to(root) for root in within)
    if not (stat.S_ISREG(opened.st_mode) and is_there and inside):
        os.close(descriptor)
        raise _outside(path.name)
    return descriptor


def _outside(name: str) -> ModelNotFound:
    return ModelNotFound(
        f"{name} of this model is not a file inside its folder; copy the file itself there",
        code="file_outside",
        file=name,
    )
