"""Numbers as each language writes them: decimal sign, groups of digits, percent sign, true minus.

In: a language, a number and a format of Python. Out: its text. Browsers take the same signs from
`Intl` (pictures/shared/fmt.js); a test holds this table to theirs.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

MINUS = "−"
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")
_NOTHING = re.compile(r"-(0(?:[.,]0+)?)$")


class Signs(NamedTuple):
    """The signs of a language; whole numbers are grouped if they have `grouped` digits or more."""

    decimal: str = "."
    group: str = ","
    grouped: int = 4
    percent: str = "%"


ENGLISH = Signs()
SIGNS: Mapping[str, Signs] = MappingProxyType({"es": Signs(",", ".", 5, "\u00a0%")})


def number(lang: str, value: Any, form: str = ",") -> str:
    """The value in a format of Python, with the signs of the language.

    >>> number("en", 22713216), number("es", 22713216), number("es", 2000)
    ('22,713,216', '22.713.216', '2000')
    >>> number("es", -0.5, ".2f"), number("en", 1.2e-7, ".1e"), number("en", -0.001, ".2f")
    ('−0,50', '1.2e−7', '0.00')
    >>> number("en", float("-inf"), ".2f"), number("en", float("nan"))
    ('−∞', 'NaN')
    """
    if value != value:
        return "NaN"
    written = local(lang, format(value, form))
    return written.replace("-inf", f"{MINUS}∞").replace("inf", "∞")


def percent(lang: str, share: float, form: str = ".0f") -> str:
    """A share of 1 in percent, with the sign.

    >>> percent("en", 0.193), percent("es", 0.193, ".1f")
    ('19%', '19,3\\xa0%')
    """
    return number(lang, 100 * share, form) + percent_sign(lang)


def percent_sign(lang: str) -> str:
    """The percent sign behind digits; in some languages a space parts them."""
    return SIGNS.get(lang, ENGLISH).percent


def local(lang: str, written: str) -> str:
    """Every number in a text that Python wrote, with the signs of the language.

    >>> local("es", "<0.01"), local("es", "0.25 → 12,345.5"), local("en", "-3")
    ('<0,01', '0,25 → 12.345,5', '−3')
    """
    signs = SIGNS.get(lang, ENGLISH)
    return _NUMBER.sub(lambda found: _signed(found[0], signs), written)


def _signed(digits: str, signs: Signs) -> str:
    mantissa, e, exponent = _NOTHING.sub(r"\1", digits).partition("e")
    whole, point, decimals = mantissa.partition(".")
    if sum(map(str.isdigit, whole)) < signs.grouped:
        whole = whole.replace(",", "")
    whole = whole.replace(",", signs.group).replace("-", MINUS)
    power = f"e{int(exponent)}".replace("-", MINUS) if e else ""
    return f"{whole}{signs.decimal if point else ''}{decimals}{power}"
