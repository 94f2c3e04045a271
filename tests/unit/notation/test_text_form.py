"""`TextForm` and the scalars of text forms: what they read, write and refuse."""

import random

import pytest

from attnviz import notation
from attnviz.errors import BadInput
from attnviz.notation import TextForm, escape, index, indices, number, unescape
from attnviz.notation.text_form import SHOWN_CHARS, shortened


def refuse(part: str, reason: str) -> BadInput:
    return notation.refusal("bad_edit", "the entry", part, reason, "a=1")


def entry(part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise refuse(part, "it has no value")
    return name, value


FORM = TextForm(refuse, separator=",", max_chars=30, max_entries=3, none="none")


def test_parse_gives_entries_by_their_keys_and_write_joins_them() -> None:
    assert FORM.parse("a=1,b=2", entry) == {"a": "1", "b": "2"}
    assert FORM.write(["a=1", "b=2"]) == "a=1,b=2"
    assert FORM.parse("none", entry) == {} and FORM.write([]) == "none"


def test_of_two_entries_with_one_key_the_later_counts_and_comes_later() -> None:
    assert list(FORM.parse("a=1,b=2,a=3", entry).items()) == [("b", "2"), ("a", "3")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a=" + "1" * 40, "longer than 30 characters"),
        ("a=1,b=2,c=3,d=4", "more than 3 entries"),
        ("a", "no value"),
        ("", "no value"),
        ("a=1,,b=2", "no value"),
    ],
)
def test_parse_refuses_what_is_over_a_limit_or_no_entry(text: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as raised:
        FORM.parse(text, entry)
    assert raised.value.code == "bad_edit"
    assert len(str(raised.value.details["asked"])) <= 41


def test_gaps_are_skipped_only_where_they_are_allowed() -> None:
    gapped = TextForm(refuse, separator=",", max_chars=30, max_entries=3, allows_gaps=True)
    assert gapped.parse(",a=1,,", entry) == {"a": "1"}


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1e3", " 1", "１", "٣", "123456", "x"])
def test_index_reads_five_ascii_digits_at_most(text: str) -> None:
    assert index(text) is None
    assert index("0") == 0 and index("99999") == 99999


@pytest.mark.parametrize(("text", "n"), [("1", 2), ("1.2.3", 2), ("1.", 2), ("", 1), ("1.x", 2)])
def test_indices_reads_exactly_as_many_as_are_asked_for(text: str, n: int) -> None:
    assert indices(text, n) is None
    assert indices("7.0", 2) == (7, 0) and indices("1/2/3", 3, "/") == (1, 2, 3)


def test_number_reads_infinity_and_no_nan() -> None:
    assert number("-inf") == -float("inf") and number("1e3") == 1000
    assert number("nan") is None and number("1,5") is None and number("") is None


def test_a_float32_comes_back_from_write_number() -> None:
    rng = random.Random(3)
    for _ in range(500):
        value = rng.uniform(-1, 1) * 10 ** rng.randint(-8, 5)
        assert number(notation.write_number(value)) == pytest.approx(value, rel=1e-8)


def test_unescape_is_the_inverse_of_escape_for_any_word() -> None:
    rng = random.Random(5)
    alphabet = "%27E0F5~ /;ab猫\n\u202e"
    for _ in range(20_000):
        word = "".join(rng.choices(alphabet, k=rng.randint(0, 9)))
        escaped = escape(word, "~ ")
        assert "~" not in escaped and " " not in escaped
        assert unescape(escaped, "~ ") == word


@pytest.mark.parametrize("word", ["50%", "a=b", "%zz", "猫", "100%7"])
def test_escape_leaves_alone_what_is_not_reserved(word: str) -> None:
    assert escape(word, "~ ") == word


def test_shortened_leaves_a_text_of_just_the_length_whole() -> None:
    assert shortened("x" * SHOWN_CHARS) == "x" * SHOWN_CHARS
    assert shortened("x" * (SHOWN_CHARS + 1)) == "x" * SHOWN_CHARS + "…"
