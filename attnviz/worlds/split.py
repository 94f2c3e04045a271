"""What training may see and what is kept from it, decided by the text alone.

In: a text. Out: whether it belongs to the sixteenth part that checks, tests and the app's samples
draw from. A hash decides, so that no list has to be kept and no case can be on both sides.
"""

import zlib

PARTS = 16


def held_out(text: str) -> bool:
    """Whether a text is kept from training; upper and lower case make no difference."""
    return zlib.crc32(text.casefold().encode("utf-8", "replace")) % PARTS == 0
