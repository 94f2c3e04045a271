"""The texts of a survey, one after another: from a list, a file or a folder of any size.

In: a list of texts, or a path: a folder of text files (each one text), .txt (a text per line), .csv
(a column `text`), .jsonl (a key `text`) or .parquet (a column `text`; needs pyarrow). Out: an
iterator of texts; a file is read line by line and never kept whole. Empty texts are left out. One
longer than a model can read at once is cut into `pieces` at the edges of tokens; they are captured
alone, and no head attends from one to another.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import TextIOBase
from itertools import pairwise
from pathlib import Path

from attnviz.errors import BadInput, TooLarge, bad_argument, require_package
from attnviz.models.loaded_model import LoadedModel

Texts = Sequence[str] | str | Path
COLUMN = "text"
LONGEST = 10_000_000  # characters of one text in a file of many
AROUND = 8  # a line of JSON or of a table takes at most so many times the characters of its text


def read_texts(
    source: Iterable[object] | str | Path, *, most_chars: int = LONGEST
) -> Iterator[str]:
    """Every text that is not empty, in order.

    Raises `BadInput` for a path that does not exist or cannot be read, another ending, a table
    without a column `text`, entries that are not texts, and a line or cell of a file with more than
    `most_chars` characters.
    """
    if not isinstance(source, str | Path):
        yield from _filled(_checked(source))
        return
    path = Path(source)
    try:
        yield from _filled(_reader(path)(path, most_chars))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"it is not UTF-8 text: {error.reason}") from error


def reads_texts(lm: LoadedModel) -> bool:
    """True for a model that reads plain texts alone."""
    return lm.tokenizer is not None and lm.kind in ("encoder", "decoder")


def require_reader(lm: LoadedModel, demand: str) -> None:
    """Raise `BadInput`, with `demand` as its beginning, unless the model reads plain texts."""
    if not reads_texts(lm):
        found = f"is a {lm.kind} model"
        if lm.kind in ("encoder", "decoder"):
            found = "has no tokenizer: give attnviz.load(name), or load(module, tokenizer=…)"
        raise BadInput(
            f"{demand}; {lm.name} {found}",
            code="no_survey",
            name=lm.name,
            kind=lm.kind,
        )


def _filled(texts: Iterable[str]) -> Iterator[str]:
    return (text for text in texts if text.strip())


def _checked(texts: Iterable[object]) -> Iterator[str]:
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise _no_text(f"number {place} is of type {type(text).__name__}")
        yield text


def _reader(path: Path) -> Callable[[Path, int], Iterator[str]]:
    if path.is_dir():
        return _folder
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise bad_argument(
            f"{path} is no folder and ends in {path.suffix or 'nothing'}; give a folder of text"
            f" files, or a file that ends in {', '.join(READERS)}",
            name="texts",
            found=str(path),
            allowed=", ".join(READERS),
        )
    return reader


def _folder(path: Path, _most_chars: int) -> Iterator[str]:
    """Each text file of a folder, by name."""
    files = sorted(path.glob("*.txt"))
    if not files:
        raise _unreadable(path, "there is no .txt file in it")
    return (file.read_text(encoding="utf-8") for file in files)


def _whole_lines(path: Path, file: TextIOBase, most_chars: int) -> Iterator[str]:
    """The lines of a file with their ends; no line is read further than it may be long."""
    number = 0
    while line := file.readline(most_chars + 2):
        number += 1
        if len(line.rstrip("\r\n")) > most_chars:
            raise _too_long(path, number, most_chars)
        yield line


def _lines(path: Path, most_chars: int) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        for line in _whole_lines(path, file, most_chars):
            yield line.rstrip("\n")


def _cells(path: Path, most_chars: int) -> Iterator[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        before = csv.field_size_limit(most_chars)
        try:
            table = csv.DictReader(_whole_lines(path, file, AROUND * most_chars))
            if COLUMN not in (table.fieldnames or ()):
                raise _no_column(path, table.fieldnames or ())
            for row in table:
                yield row[COLUMN] or ""
        except csv.Error as error:
            raise _unreadable(path, f"line {table.line_num}: {error}") from error
        finally:
            csv.field_size_limit(before)


def _records(path: Path, most_chars: int) -> Iterator[str]:
    for number, line in enumerate(_lines(path, AROUND * most_chars), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _unreadable(path, f"line {number} is not JSON") from error
        text = record.get(COLUMN) if isinstance(record, dict) else record
        if not isinstance(text, str):
            raise _unreadable(path, f"line {number} has no {COLUMN!r} that is a text")
        if len(text) > most_chars:
            raise _too_long(path, number, most_chars)
        yield text


def _parquet(path: Path, _most_chars: int) -> Iterator[str]:
    require_package("pyarrow", "reading .parquet", "app")
    import pyarrow.parquet as parquet
    from pyarrow import ArrowException

    try:
        file = parquet.ParquetFile(path)
    except ArrowException as error:
        raise _unreadable(path, "it is not a parquet file") from error
    if COLUMN not in file.schema_arrow.names:
        raise _no_column(path, file.schema_arrow.names)
    for batch in file.iter_batches(columns=[COLUMN]):
        yield from _checked([text or "" for text in batch.column(0).to_pylist()])


READERS: dict[str, Callable[[Path, int], Iterator[str]]] = {
    ".txt": _lines,
    ".csv": _cells,
    ".jsonl": _records,
    ".parquet": _parquet,
}


def _no_text(found: str) -> BadInput:
    return bad_argument(
        f"a survey reads a list of texts, or a path; {found}",
        name="texts",
        found=found,
        allowed="str",
    )


def _no_column(path: Path, names: Sequence[str]) -> BadInput:
    return _unreadable(path, f"it has no column {COLUMN!r}, only {', '.join(names) or 'nothing'}")


def _too_long(path: Path, line: int, most_chars: int) -> BadInput:
    return BadInput(
        f"line {line} of {path} has more than {most_chars:,} characters; cut it into several texts",
        code="long_line",
        path=str(path),
        line=line,
        limit=most_chars,
    )


def _unreadable(path: Path, reason: str) -> BadInput:
    return BadInput(
        f"cannot read texts from {path}: {reason}",
        code="no_file",
        path=str(path),
        reason=reason,
    )


def pieces(lm: LoadedModel, texts: Iterable[str]) -> Iterator[str]:
    """Texts of at most `lm.max_tokens` tokens, the special ones included.

    Raises `TooLarge` for a longer text if the tokenizer does not say which characters a token has.
    """
    n_special = lm.text_tokenizer().num_special_tokens_to_add()
    for text in texts:
        # a token has at least one byte of its own; SentencePiece writes a space before the text
        if len(text.encode(errors="replace")) + 1 + n_special <= lm.max_tokens:
            yield text
        else:
            yield from _cut(lm, text, lm.max_tokens - n_special)


def _cut(lm: LoadedModel, text: str, most: int) -> Iterator[str]:
    encoded = lm.tokenize(text, add_special_tokens=False, verbose=False)
    n_token = len(encoded["input_ids"])
    if n_token <= most:
        yield text
        return
    if not encoded.is_fast:
        raise TooLarge(
            f"a text has {n_token} tokens and {lm.name} reads {most}; its tokenizer does not say"
            " where its tokens are, so cut the text into shorter ones",
            code="too_many_tokens",
            found=n_token,
            limit=most,
            unit="tokens",
        )
    spans = [encoded.token_to_chars(token) for token in range(most, n_token, most)]
    edges = sorted({0, len(text), *(span.start for span in spans if span is not None)})
    for start, stop in pairwise(edges):
        # a piece alone may have a token more than inside its text: then it is cut again
        yield from _cut(lm, text[start:stop], most) if len(edges) > 2 else (text,)
