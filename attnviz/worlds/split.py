"""The split between training and held-out text, decided by a hash of the text alone.

In: a text. Out: True if it belongs to the sixteenth part from which checks, tests and the app's
samples draw. Since a hash decides, no list has to be kept and no case can be on both sides.
"""

import zlib

PARTS = 16


def is_held_out(text: str) -> bool:
    """True if a text is kept from training; upper and lower case make no difference."""
    return zlib.crc32(text.casefold().encode("utf-8", "replace")) % PARTS == 0
