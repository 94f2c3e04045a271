"""The request that the current view makes of its model.

In: texts, what is known of the model, and the view. Out: a `Request`.
"""

from attnviz.types import ModelCard
from attnviz.ui.server.request import GREEDY, Request, Sampling, generates
from attnviz.ui.session import current


def of_view(texts: tuple[str, ...], card: ModelCard) -> Request:
    """The request for these texts, with the view's target if there is a decoder to read it."""
    typed = current.view().input.target
    target = typed if card.kind == "encoder-decoder" and typed.strip() else ""
    return of_texts(texts, card, target)


def of_texts(texts: tuple[str, ...], card: ModelCard, target: str) -> Request:
    """The request for these texts: with a target, or with as many tokens as the view asks for."""
    view, chat = current.view(), is_message(card)
    if target or not (generates(card) and view.generating.n_tokens):
        return Request(texts, view.input.cut, chat, target)
    return Request(
        texts, view.input.cut, chat, generate=view.generating.n_tokens, sampling=sampling()
    )


def is_message(card: ModelCard) -> bool:
    """True if the model is to read its text as a chat message."""
    return current.view().input.chat and card.takes_messages


def sampling() -> Sampling:
    """The view's settings of sampling; all greedy settings are one."""
    settings = current.view().generating
    if settings.temperature == 0:
        return GREEDY
    return Sampling(settings.temperature, settings.top_k, settings.top_p, settings.seed)
