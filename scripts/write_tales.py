"""Write attnviz/corpus/tales.txt, sentences of tales: `python -m scripts.write_tales FILE`.

In: a text file of the tales in Margaret Hunt's translation of 1884, which is in the public domain
(Project Gutenberg's number 2591). Out: `N` of its sentences, drawn by a hash of each one and in
their order in the book, so that the same file gives the same sentences.
"""

import hashlib
import re
import sys
from pathlib import Path

from attnviz.corpus import samples

N = 512
WORDS = range(7, 25)  # of a sentence
END = re.compile(r'(?<=[.!?])["”]?\s+(?=["“]?[A-Z])')
PLAIN = re.compile(r"[A-Za-z ,;:.!?'’\"“”-]+")


def main() -> None:
    book = Path(sys.argv[1]).read_text(encoding="utf-8")
    chosen = sentences(book)
    samples.TALES.write_text("".join(f"{sentence}\n" for sentence in chosen), encoding="utf-8")
    print(f"{samples.TALES}: {len(chosen)} sentences")


def sentences(book: str, n: int = N) -> list[str]:
    """The `n` drawn sentences of a book; fewer of them are among more."""
    paragraphs = (" ".join(block.split()) for block in re.split(r"\n\s*\n", book))
    every = [part for paragraph in paragraphs for part in END.split(paragraph)]
    fitting = [sentence for sentence in dict.fromkeys(every) if _fits(sentence)]
    drawn = set(sorted(fitting, key=_ticket)[:n])
    return [sentence for sentence in fitting if sentence in drawn]


def _fits(sentence: str) -> bool:
    quotes = sum(map(sentence.count, '"“”'))
    whole = sentence.endswith((".", "!", "?")) and sentence[:1].isupper() and not quotes
    return whole and len(sentence.split()) in WORDS and PLAIN.fullmatch(sentence) is not None


def _ticket(sentence: str) -> bytes:
    return hashlib.blake2b(sentence.encode(), digest_size=8).digest()


if __name__ == "__main__":
    main()
