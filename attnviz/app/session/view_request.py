"""The library's request for an input and the settings of the current view, of any kind of model.

In: what is known of the model, and the texts, picture or sound that it is to read. Out: a
`Request`. A capture keeps it, so that whatever runs the model again need not make it a second time.
"""

from PIL.Image import Image

from attnviz.app.session import current
from attnviz.app.session.model_cards import generates
from attnviz.audio.sound import Sound
from attnviz.capture.generation.settings import Generation
from attnviz.capture.request import Request
from attnviz.types import ModelCard

N_HEARD = 24  # tokens that a model generates from a sound where no number is asked for


def of_input(
    card: ModelCard,
    texts: tuple[str, ...] = (),
    *,
    image: Image | None = None,
    sound: Sound | None = None,
    target: str = "",
) -> Request:
    """The request for this input, with the target of a decoder or with tokens to generate.

    A model that reads a picture alone gets no texts, and nothing that belongs to texts.
    """
    view, fed = current.view(), target if target.strip() else ""
    if sound is not None:
        if not card.transcribes:
            return Request.of(sound=sound)
        if fed:
            return Request.of(sound=sound, target=fed, cut=view.input.cut)
        return Request.of(sound=sound, generate=view.generating.n_tokens or N_HEARD)
    if not texts:
        return Request.of(image=image)
    fed = fed if card.kind == "encoder-decoder" else ""
    n_tokens = 0 if fed or not generates(card) else view.generating.n_tokens
    return Request.of(
        texts,
        target=[fed] * len(texts) if fed else None,
        image=image,
        generate=generation(n_tokens + 1) if n_tokens else 0,  # the last one is never read
        cut=view.input.cut,
        chat=view.input.chat and card.takes_messages,
    )


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
