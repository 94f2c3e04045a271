"""Texts as messages, inside the template that a chat model expects.

In: a model and texts. Out: each text inside the model's own template, ready to be tokenised without
further special tokens. A message that is too long loses its own end, never the template behind it,
where the model's answer begins.
"""

from attnviz.models.chat_template import as_messages
from attnviz.models.loaded_model import LoadedModel

MAX_TRIES = 4  # the token at the cut may fall apart, which takes another cut


def messages(
    lm: LoadedModel, texts: list[str], room: int | None, *, with_picture: bool
) -> list[str]:
    """Each text as a message, after its picture if it has one.

    Messages are shortened to `room` tokens if that is given.
    """
    wrapped = as_messages(lm, texts, with_picture=with_picture)
    if room is None:
        return wrapped
    return [
        _shortened(lm, whole, text.strip(), room)
        for whole, text in zip(wrapped, texts, strict=True)
    ]


def _shortened(lm: LoadedModel, wrapped: str, message: str, room: int) -> str:
    """`wrapped` with the end of its message left out, if that makes it fit; else unchanged."""
    start = wrapped.rfind(message)
    if start < 0 or not lm.text_tokenizer().is_fast:
        return wrapped
    shorter, stop = wrapped, start + len(message)
    for _ in range(MAX_TRIES):
        spans = lm.tokenize(
            shorter, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        n_over = len(spans) - room
        if n_over <= 0:
            return shorter
        token_starts = [begin for begin, end in spans if start <= begin < end <= stop]
        if len(token_starts) <= n_over:
            return wrapped
        shorter = shorter[: token_starts[-n_over]] + shorter[stop:]
        stop = token_starts[-n_over]
    return wrapped
