"""Text in pictures: how wide it may get, and how it is shortened so that nothing is cut off.

In: a text and a size in points. Out: a width that no common font exceeds. Whoever opens an SVG has
other fonts than we do, so widths are those of DejaVu Sans, the widest that stands in for Helvetica,
and generous beyond Latin letters.
"""

import unicodedata
from collections.abc import Iterable

from attnviz.tokens.labels import visible

ELLIPSIS = "…"
# the advance widths of DejaVu Sans for the signs 32 to 126, in thousandths of the size
_ASCII = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
)  # fmt: skip
_OTHER = {"Mn": 0, "Me": 0, "Cf": 0, "So": 1650}
_WIDE, _ANY = 1100, 1050
BOLD = 1.2


def width(text: str, size: float, bold: bool = False) -> float:
    """The room in points that a text needs in the widest font."""
    thousandths = sum(map(_sign_width, text))
    return thousandths * size / 1000 * (BOLD if bold else 1)


def _sign_width(sign: str) -> int:
    if " " <= sign <= "~":
        return _ASCII[ord(sign) - 32]
    wide = _WIDE if unicodedata.east_asian_width(sign) in "WF" else _ANY
    return _OTHER.get(unicodedata.category(sign), wide)


def widest(texts: Iterable[str], size: float, least: float = 4.0) -> float:
    """The room that the longest of several texts needs."""
    return max((width(text, size) for text in texts), default=least)


def shortened(text: str, size: float, room: float, bold: bool = False) -> str:
    """The text, or as much of its beginning as fits the room, with an ellipsis.

    >>> shortened("international", 7, 30)
    'intern…'
    """
    if width(text, size, bold) <= room:
        return text
    left = room - width(ELLIPSIS, size, bold)
    for count, sign in enumerate(text):
        left -= width(sign, size, bold)
        if left < 0:
            return text[:count] + ELLIPSIS
    return text + ELLIPSIS


def legible(text: str) -> str:
    """The text with every sign that is invisible, or not allowed in XML, spelled out.

    >>> legible("a\\u202eb c")
    'a⟨U+202E⟩b c'
    """
    if text.isprintable():
        return text
    return "".join(sign if sign == " " else visible(sign) for sign in text)
