"""The label of the text box, and the kinds of model by what they read.

In: the current view and what is known of its model. Out: labels for the page and the menu.
"""

from attnviz.app.session import current, model_cards
from attnviz.i18n import Language, text
from attnviz.types import ModelCard, ModelKind

READS_PICTURES: tuple[ModelKind, ...] = ("vision", "text-image")
READS_NO_TEXT: tuple[ModelKind, ...] = ("vision", "speech", "module")


def text_label(lang: Language) -> str:
    """The label of the box for the text: a model with a target reads a source."""
    card = model_cards.card(current.view().model)
    has_target = card is not None and card.kind == "encoder-decoder"
    return text(lang, "menu.source" if has_target else "menu.text")


def reads_text(card: ModelCard | None) -> bool:
    """True for a model that reads a text, alone or with a picture; also for one not known yet."""
    return card is None or card.kind not in READS_NO_TEXT
