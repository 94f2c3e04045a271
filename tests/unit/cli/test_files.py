"""`files`: what a command reads besides its arguments."""

import io
from pathlib import Path

import pytest
from PIL import Image

from attnviz.cli import inputs
from attnviz.cli.command import Refused
from attnviz.errors import BadInput


def standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="latin-1"))


@pytest.mark.parametrize("argument", ["a text", "", "--", None])
def test_text_is_the_argument(argument: str | None) -> None:
    assert inputs.text(argument) == argument


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_text_reads_standard_input_as_utf_8(monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    standard_input(monkeypatch, "two lines\nand 猫".encode() + end)
    assert inputs.text("-") == "two lines\nand 猫"


def test_text_refuses_standard_input_that_is_not_text(monkeypatch: pytest.MonkeyPatch) -> None:
    standard_input(monkeypatch, b"abc\xff")
    with pytest.raises(Refused, match="byte 3 "):
        inputs.text("-")


def test_picture_is_read_in_rgb(tmp_path: Path) -> None:
    Image.new("L", (3, 2), 9).save(tmp_path / "grey.png")
    picture = inputs.picture(str(tmp_path / "grey.png"))
    assert (picture.mode, picture.size) == ("RGB", (3, 2))


@pytest.mark.parametrize("read", [inputs.picture, inputs.sound])
def test_a_file_that_is_missing_or_something_else_is_refused(read: object) -> None:
    assert callable(read)
    with pytest.raises(BadInput, match=r"nowhere\.png"):
        read("nowhere.png")
    with pytest.raises(BadInput):
        read(__file__)
