"""Numbers that a visitor gives, in the address or with a widget, checked like any input.

In: anything. Out: (the number to use, or None; whether it is exactly what was given). A number that
is beyond its bounds is brought back to them; decimals are kept in hundredths.
"""

import re

MAX_INDEX = 99_999
MAX_WRITTEN = 64
# the largest of each whole number, and the bounds of each decimal
COUNTS = {"generate": MAX_WRITTEN, "top_k": 1000, "seed": MAX_INDEX, "window": 9999}
FRACTIONS = {"temperature": (0.0, 2.0), "top_p": (0.01, 1.0)}
DECIMAL = re.compile(r"[0-9]{1,5}(\.[0-9]{1,8})?")


def index(raw: object) -> tuple[int | None, bool]:
    """A position, 0-based; None stands for none."""
    if raw is None:
        return None, True
    if isinstance(raw, str) and raw.isascii() and raw.isdigit() and len(raw) <= 6:
        raw = int(raw)
    if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= MAX_INDEX:
        return raw, True
    return None, False


def count(name: str, raw: object) -> tuple[int | None, bool]:
    """One of `COUNTS`, from 0 to its largest."""
    number, _ = index(raw)
    if number is None:
        return None, False
    return min(number, COUNTS[name]), number <= COUNTS[name]


def fraction(name: str, raw: object) -> tuple[float | None, bool]:
    """One of `FRACTIONS`, within its bounds."""
    if isinstance(raw, str) and DECIMAL.fullmatch(raw):
        raw = float(raw)
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 <= raw <= MAX_INDEX:
        return None, False
    least, most = FRACTIONS[name]
    number = round(float(raw), 2)
    return min(max(number, least), most), least <= number <= most
