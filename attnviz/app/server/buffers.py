"""The bytes that canvases show, and sentences beside them: kept under keys that callers write.

In: a key, and what makes the value. Out: the value. The key names everything that determines it:
model, input, language, page, layer and head.
"""

from collections.abc import Callable

from attnviz.app.server.shared import shared

MAX_BUFFERS = 16  # the largest, all heads on Head for 512 tokens, has 38 MB
MAX_SENTENCES = 256


@shared(most=MAX_BUFFERS)
def buffer(key: str, _build: Callable[[], bytes]) -> bytes:
    """The bytes that `_build` makes; `key` names everything that determines them."""
    return _build()


@shared(most=MAX_SENTENCES)
def sentences(key: str, _say: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """The sentences that `_say` returns of an answer; `key` names all that determines them."""
    return _say()
