"""Texts as messages: what a model that was taught to chat expects around them.

In: a model and texts. Out: each text inside the model's own template, ready to be tokenised without
further special tokens. A message that is too long loses its own end, never what the template wrote
behind it: that is where the model's answer begins.
"""

from attnviz.models.chat_template import as_messages
from attnviz.models.loaded import LoadedModel

MOST_TRIES = 4  # the token at the cut may fall apart, which takes another cut


def messages(lm: LoadedModel, texts: list[str], room: int | None, *, pictured: bool) -> list[str]:
    """Each text as a message, with its picture; shortened to `room` tokens where that is given."""
    wrapped = as_messages(lm, texts, pictured=pictured)
    if room is None:
        return wrapped
    return [_shortened(lm, of, text.strip(), room) for of, text in zip(wrapped, texts, strict=True)]


def _shortened(lm: LoadedModel, wrapped: str, message: str, room: int) -> str:
    """`wrapped` with less of the message, if that makes it fit; as it is where it does not."""
    start, tokenizer = wrapped.rfind(message), lm.text_tokenizer()
    if start < 0 or not tokenizer.is_fast:
        return wrapped
    shorter, stop = wrapped, start + len(message)
    for _ in range(MOST_TRIES):
        spans = tokenizer(
            shorter, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        over = len(spans) - room
        if over <= 0:
            return shorter
        inside = [begin for begin, end in spans if start <= begin < end <= stop]
        if len(inside) <= over:
            return wrapped
        shorter, stop = shorter[: inside[-over]] + shorter[stop:], inside[-over]
    return wrapped
