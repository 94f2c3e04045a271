"""The generated worlds of the embedded models, as far as the app and the library need them.

`shapes` and `dates` draw examples with their right answers from a generator that the caller seeds;
`french` has the words and examples of `translator`, `vocabulary` those of the stories. Training
draws from them, checks and tests use cases that training never saw, and the app shows samples. A
hash of a text decides if it is held out: no list has to be kept and no case can be on both sides.
The grammars that only training needs (French, stories, reviews) live in scripts/train/worlds. No
torch, no corpus from elsewhere.
"""

import zlib

PARTS = 16


def is_held_out(text: str) -> bool:
    """True if a text is kept from training; upper and lower case make no difference."""
    return zlib.crc32(text.casefold().encode("utf-8", "replace")) % PARTS == 0
