"""The generator of dates: every format says the date that stands beside it."""

import datetime
import random
import re

import pytest

from attnviz.worlds import PARTS, dates, is_held_out

SOME = 1500


@pytest.fixture(scope="module")
def drawn() -> list[dates.DatePair]:
    rng = random.Random(31)
    return [dates.draw(rng) for _ in range(SOME)]


def test_the_answer_is_a_date_of_the_range(drawn: list[dates.DatePair]) -> None:
    for pair in drawn:
        assert dates.FIRST <= datetime.date.fromisoformat(pair.iso) <= dates.LAST


def test_the_parts_say_year_month_and_day(drawn: list[dates.DatePair]) -> None:
    months = {name[:3].lower(): n for n, name in enumerate(dates.MONTHS, 1)}
    ordinals = {name: n for n, name in enumerate(dates.ORDINALS, 1)}
    for pair in drawn:
        year, month, day = (pair.text[start:end].lower() for start, end in pair.parts)
        found_month = int(month) if month.isdigit() else months[month[:3]]
        digits = re.match(r"\d+", day)
        found_day = int(digits[0]) if digits else ordinals[day]
        assert f"{year}-{found_month:02d}-{found_day:02d}" == pair.iso


def test_the_weekday_is_the_right_one(drawn: list[dates.DatePair]) -> None:
    checked = 0
    for pair in drawn:
        named = [day for day in dates.DAYS if day.lower() in pair.text.lower()]
        for day in named:
            checked += 1
            assert datetime.date.fromisoformat(pair.iso).weekday() == dates.DAYS.index(day)
    assert checked > SOME // 10


def test_every_format_is_drawn(drawn: list[dates.DatePair]) -> None:
    shapes = {
        "numbers with dots": r"\d\d\.\d\d\.\d{4}$",
        "numbers with slashes, year last": r"\d\d/\d\d/\d{4}$",
        "numbers with slashes, year first": r"\d{4}/\d\d/\d\d$",
        "an ordinal in letters": r"(?i)the (twenty-)?(first|second|third|fourth)",
        "hyphens": r"\d-[A-Z][a-z]+\.?-\d",
        "a sentence": r"(?i)she was born on",
        "small letters": r"[^A-Z]*[a-z]{3}[^A-Z]*$",
        "capitals": r"[^a-z]*[A-Z]{3}[^a-z]*$",
    }
    for name, shape in shapes.items():
        assert any(re.match(shape, pair.text) for pair in drawn), name


@pytest.mark.parametrize(
    ("day", "wanted"), [(1, "st"), (2, "nd"), (3, "rd"), (4, "th"), (11, "th"), (12, "th"),
                        (13, "th"), (21, "st"), (22, "nd"), (23, "rd"), (30, "th"), (31, "st")]
)  # fmt: skip
def test_ordinals_have_their_endings(day: int, wanted: str) -> None:
    assert dates.suffix(day) == wanted


def test_a_seed_gives_the_same_dates() -> None:
    first, second = random.Random(5), random.Random(5)
    assert [dates.draw(first) for _ in range(50)] == [dates.draw(second) for _ in range(50)]


def test_training_and_checks_share_no_text(drawn: list[dates.DatePair]) -> None:
    assert not any(is_held_out(pair.text) for pair in drawn)
    rng = random.Random(6)
    assert all(is_held_out(dates.draw(rng, held_out=True).text) for _ in range(50))


def test_a_sixteenth_is_held_out_whatever_its_case() -> None:
    texts = [f"sentence {n}" for n in range(8000)]
    share = sum(map(is_held_out, texts)) / len(texts)
    assert abs(share - 1 / PARTS) < 0.01
    assert [is_held_out(text.upper()) for text in texts[:100]] == list(
        map(is_held_out, texts[:100])
    )


def test_words_of_no_format_are_named() -> None:
    assert dates.unknown_words("Paul met Anna on the 3rd of May, 1999") == ("Paul", "Anna")
    for text in dates.EXAMPLES:
        assert dates.unknown_words(text) == ()
