"""What the current view asks of its model, as a `Request`.

In: texts, what is known of the model, and the view. Out: the part of a capture's key that the
visitor chose.
"""

from attnviz.types import ModelCard
from attnviz.ui.server.request import GREEDY, Request, Sampling, generates
from attnviz.ui.session import state


def of_view(texts: tuple[str, ...], card: ModelCard) -> Request:
    """What to run: a target only where there is a decoder to read it, and then nothing written."""
    view = state.current()
    target = view.target if card.kind == "encoder-decoder" and view.target.strip() else ""
    return of_texts(texts, card, target)


def of_texts(texts: tuple[str, ...], card: ModelCard, target: str) -> Request:
    """What to run of these texts: a target, or as much written as the view asks for."""
    view, chat = state.current(), is_message(card)
    if target or not (generates(card) and view.generate):
        return Request(texts, view.cut, chat, target)
    return Request(texts, view.cut, chat, generate=view.generate, sampling=sampling())


def is_message(card: ModelCard) -> bool:
    """Whether a model is to read its text as a message."""
    return state.current().chat and card.takes_messages


def sampling() -> Sampling:
    """What the view asks for; all that is greedy is one."""
    view = state.current()
    if view.temperature == 0:
        return GREEDY
    return Sampling(view.temperature, view.top_k, view.top_p, view.seed)
