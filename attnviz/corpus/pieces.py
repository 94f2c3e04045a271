"""Texts that a model can read at once: a longer one is cut into pieces at the edges of tokens.

In: a model and texts. Out: the same texts, or several pieces of one in their order. The pieces of a
text are captured alone: no head attends from one to another.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from attnviz.errors import TooLarge
from attnviz.models.loaded_model import LoadedModel


def pieces(lm: LoadedModel, texts: Iterable[str]) -> Iterator[str]:
    """Texts of at most `lm.max_tokens` tokens, the special ones included.

    Raises `TooLarge` for a longer text if the tokenizer does not say which characters a token has.
    """
    n_special = lm.text_tokenizer().num_special_tokens_to_add()
    for text in texts:
        # a token has at least one byte of its own; SentencePiece writes a space before the text
        if len(text.encode(errors="replace")) + 1 + n_special <= lm.max_tokens:
            yield text
        else:
            yield from _cut(lm, text, lm.max_tokens - n_special)


def _cut(lm: LoadedModel, text: str, most: int) -> Iterator[str]:
    encoded = lm.tokenize(text, add_special_tokens=False, verbose=False)
    n_token = len(encoded["input_ids"])
    if n_token <= most:
        yield text
        return
    if not encoded.is_fast:
        raise TooLarge(
            f"a text has {n_token} tokens and {lm.name} reads {most}; its tokenizer does not say"
            " where its tokens are, so cut the text into shorter ones",
            code="too_many_tokens",
            found=n_token,
            limit=most,
            unit="tokens",
        )
    spans = [encoded.token_to_chars(token) for token in range(most, n_token, most)]
    edges = sorted({0, len(text), *(span.start for span in spans if span is not None)})
    for start, stop in pairwise(edges):
        # a piece alone may have a token more than inside its text: then it is cut again
        yield from _cut(lm, text[start:stop], most) if len(edges) > 2 else (text,)
