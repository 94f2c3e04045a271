"""Numbers have the signs of their language, in Python as in browsers."""

from typing import Any

import pytest

from attnviz import i18n
from attnviz.i18n import numbers
from tests.support.node import in_node, needs_node

SIGNS = """async ([languages]) => {
    const { fmtCount, local, speakNumbers, withPercent } = await load("shared/fmt.js");
    const written = %s;
    return languages.map((language) => {
        speakNumbers(language);
        return [fmtCount(1999), fmtCount(12345), withPercent("19"), ...written.map(local)];
    });
}"""
WRITTEN = [
    "0.25",
    "-0.5",
    "1.2e-07",
    "<0.01",
    "0.891·3 + -1,234.5·2",
    "L2.H1 2000",
    "-0.00",
    "1e+16",
]


@needs_node
def test_browsers_have_the_signs_of_the_table() -> None:
    """Those of `Intl`, in each language of the interface."""
    tags = [i18n.tag(lang) for lang in i18n.LANGUAGES]
    assert in_node(SIGNS % WRITTEN, [tags]) == [
        [
            numbers.number(lang, 1999),
            numbers.number(lang, 12345),
            numbers.percent(lang, 0.19),
            *(numbers.local(lang, written) for written in WRITTEN),
        ]
        for lang in i18n.LANGUAGES
    ]


@pytest.mark.parametrize(
    ("value", "form", "english", "spanish"),
    [
        (0.891, ".2f", "0.89", "0,89"),
        (-1234.5, ",.1f", "−1,234.5", "−1234,5"),
        (22713216, ",", "22,713,216", "22.713.216"),
        (1.2e-7, ".1e", "1.2e−7", "1,2e−7"),
        (-0.001, ".2f", "0.00", "0,00"),
        (0.5, "+.2f", "+0.50", "+0,50"),
        (float("nan"), ".2f", "NaN", "NaN"),
        (float("-inf"), ".2f", "−∞", "−∞"),
    ],
)
def test_a_number_has_the_signs_of_its_language(
    value: Any, form: str, english: str, spanish: str
) -> None:
    assert numbers.number("en", value, form) == numbers.number("zh", value, form) == english
    assert numbers.number("es", value, form) == spanish


def test_a_text_prints_its_numbers_in_its_language_and_words_as_they_are() -> None:
    values = {"n": 22713216, "word": "0.5", "yes": True}
    said = "{n} {word} {yes}"
    assert i18n.fill(said, values) == "22,713,216 0.5 True"
    assert i18n.fill(said, values, "es") == "22.713.216 0.5 True"
    assert i18n.fill("{n} {n:token|tokens}", {"n": 1}, "es") == "1 token"
