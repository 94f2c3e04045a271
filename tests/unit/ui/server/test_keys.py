"""Cache keys: bounded, and different where the values are."""

import numpy as np

from attnviz.ui.server.keys import MAX_KEY_CHARS, key_part, short


def test_a_long_key_becomes_a_short_one_of_its_own() -> None:
    long = "a" * (MAX_KEY_CHARS + 1)
    assert short("as it is") == "as it is"
    assert len(short(long)) < MAX_KEY_CHARS
    assert short(long) != short(long[:-1] + "b")


def test_pictures_are_known_by_their_bytes() -> None:
    black, white = np.zeros((3, 5), np.uint8), np.ones((3, 5), np.uint8)
    assert key_part(black) == key_part(black.copy())
    assert key_part(black) != key_part(white)
    assert key_part([black, "a", None]) == f"[{key_part(black)}, 'a', None]"
