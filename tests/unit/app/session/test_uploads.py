"""A text from a file: UTF-8 or nothing, of a size, with its lines as they are meant."""

import pytest

from attnviz.app.session.uploads import MAX_NAME_CHARS, MAX_TEXT_BYTES, TextFile, text_file
from attnviz.errors import BadInput, TooLarge


def test_text_in_many_scripts() -> None:
    text = "The cat. 猫がいる。 고양이 👩‍👩‍👧 שלום\n"
    assert text_file("a.txt", text.encode()) == TextFile("a.txt", text)


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"\xef\xbb\xbfhello", "hello"), (b"a\r\nb\rc\n", "a\nb\nc\n"), (b"", "")],
    ids=["byte order mark", "line ends", "empty"],
)
def test_marks_and_line_ends(data: bytes, text: str) -> None:
    assert text_file("a.txt", data).text == text


@pytest.mark.parametrize(
    ("data", "place"),
    [("café".encode("latin-1"), 3), (b"\xff\xfeh\0i\0", 0), (b"ab\0c", 2), (b"\xed\xa0\xbd", 0)],
    ids=["latin-1", "utf-16", "binary", "surrogate"],
)
def test_what_is_no_text_says_where(data: bytes, place: int) -> None:
    with pytest.raises(BadInput) as raised:
        text_file("a.txt", data)
    assert raised.value.code == "bad_text_file"
    assert raised.value.details == {"place": place}


def test_the_limit() -> None:
    assert len(text_file("a.txt", b"a" * MAX_TEXT_BYTES).text) == MAX_TEXT_BYTES
    with pytest.raises(TooLarge) as raised:
        text_file("a.txt", b"a" * (MAX_TEXT_BYTES + 1))
    assert raised.value.details == {"found": 1025, "limit": 1024, "unit": "KiB"}


def test_a_name_is_not_endless() -> None:
    assert text_file("n" * 500 + ".txt", b"a").name == "n" * MAX_NAME_CHARS
