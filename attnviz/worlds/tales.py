"""Sentences for maps and surveys of models that read any English.

In: nothing. Out: 512 sentences of the Grimms' tales in Margaret Hunt's translation of 1884, in the
public domain; `python -m scripts.write_tales` drew them. No torch.
"""

from pathlib import Path

FILE = Path(__file__).with_name("tales.txt")


def sentences() -> tuple[str, ...]:
    """The sentences, in their order in the book."""
    return tuple(FILE.read_text(encoding="utf-8").splitlines())
