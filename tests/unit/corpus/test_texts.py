"""Texts of a survey from every kind of source, and what is refused."""

import json
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from attnviz import BadInput
from attnviz.corpus.texts import read_texts

TEXTS = ["The cat sat.", "猫が座った。", 'He said: "yes, and no".']


def file_of(folder: Path, ending: str) -> Path:
    path = folder / f"texts{ending}"
    if ending == ".txt":
        path.write_text("\n\n".join(TEXTS), encoding="utf-8")
    elif ending == ".csv":
        rows = (
            ",".join(("id", "text")),
            *(f'1,"{text.replace(chr(34), chr(34) * 2)}"' for text in TEXTS),
        )
        path.write_text("\n".join(rows), encoding="utf-8-sig")
    elif ending == ".jsonl":
        lines = [
            json.dumps({"text": TEXTS[0]}),
            json.dumps(TEXTS[1]),
            json.dumps({"text": TEXTS[2]}),
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        parquet.write_table(pyarrow.table({"text": TEXTS}), path)
    return path


@pytest.mark.parametrize("ending", [".txt", ".csv", ".jsonl", ".parquet"])
def test_every_kind_of_file_gives_the_same_texts(tmp_path: Path, ending: str) -> None:
    assert list(read_texts(file_of(tmp_path, ending))) == TEXTS


def test_a_folder_gives_its_text_files_by_name_and_empty_texts_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("two\nlines", encoding="utf-8")
    (tmp_path / "a.txt").write_text("one", encoding="utf-8")
    (tmp_path / "c.txt").write_text(" \n", encoding="utf-8")
    assert list(read_texts(tmp_path)) == ["one", "two\nlines"]
    assert list(read_texts(["", "x", "  "])) == ["x"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("texts.pdf", b"x", "ends in .pdf"),
        ("texts.csv", b"id,words\n1,x", "no column 'text', only id, words"),
        ("texts.jsonl", b'{"text": "x"}\n{"text": 3}', "line 2 has no 'text'"),
        ("texts.jsonl", b"{", "line 1 is not JSON"),
        ("texts.txt", b"\xff\xfe\x00", "not UTF-8"),
        ("texts.parquet", b"PAR1", "not a parquet file"),
        ("texts.txt", b"short\n" + b"long " * 5, "line 2 of .* has more than 20 characters"),
        ("texts.csv", b"text\n" + b"long " * 5, "field larger than field limit"),
        ("texts.csv", b"text\n" + b"," * 200, "line 2 of .* has more than 160 characters"),
        ("texts.jsonl", b'"' + b"long " * 5 + b'"', "line 1 of .* has more than 20 characters"),
        ("texts.jsonl", b"[" * 200, "line 1 of .* has more than 160 characters"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput, match=words) as refused:
        list(read_texts(path, most_chars=20))
    assert str(path) in str(refused.value)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="number 1 is of type int"):
        list(read_texts(["x", 3]))  # type: ignore[list-item]
    with pytest.raises(BadInput, match="No such file"):
        list(read_texts(tmp_path / "none.txt"))
    with pytest.raises(BadInput, match=r"no \.txt file"):
        list(read_texts(tmp_path))
