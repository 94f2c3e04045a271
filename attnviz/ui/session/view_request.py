"""The library's request for the input and the generation settings of the current view.

In: texts and a picture, what is known of the model, and the view. Out: a `Request`; its `key` is
part of a capture's key in the cache.
"""

from PIL.Image import Image

from attnviz.capture.generation.settings import Generation
from attnviz.capture.request import Request
from attnviz.types import ModelCard
from attnviz.ui.session import current
from attnviz.ui.session.model_cards import generates


def of_view(texts: tuple[str, ...], card: ModelCard, image: Image | None = None) -> Request:
    """The request for these texts, with the view's target if there is a decoder to read it."""
    typed = current.view().input.target
    target = typed if card.kind == "encoder-decoder" and typed.strip() else ""
    return of_texts(texts, card, target, image)


def of_texts(
    texts: tuple[str, ...], card: ModelCard, target: str, image: Image | None = None
) -> Request:
    """The request for these texts: with a target, or with as many tokens as the view asks for.

    A model that reads a picture alone gets no texts, and nothing that belongs to texts.
    """
    if not texts:
        return Request.of(image=image)
    view = current.view()
    n_tokens = 0 if target or not generates(card) else view.generating.n_tokens
    return Request.of(
        texts,
        target=[target] * len(texts) if target else None,
        image=image,
        generate=generation(n_tokens + 1) if n_tokens else 0,  # the last one is never read
        cut=view.input.cut,
        chat=is_message(card),
    )


def is_message(card: ModelCard) -> bool:
    """True if the model is to read its text as a chat message."""
    return current.view().input.chat and card.takes_messages


def generation(n_tokens: int = 1) -> Generation:
    """The view's sampling settings for `n_tokens`; at temperature 0 the others are left out."""
    settings = current.view().generating
    if settings.temperature == 0:
        return Generation(n_tokens)
    return Generation(
        n_tokens,
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        seed=settings.seed,
    )
