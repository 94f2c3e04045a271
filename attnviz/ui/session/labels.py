"""What the boxes of the sidebar are called, and which kinds of model read no text.

In: the current view and what is known of its model. Out: labels for the page and the sidebar.
"""

from attnviz.i18n import Language, text
from attnviz.types import ModelKind
from attnviz.ui.session import state

PICTURED: tuple[ModelKind, ...] = ("vision", "text-image")
TEXTLESS: tuple[ModelKind, ...] = ("vision", "speech", "module")


def text_label(lang: Language) -> str:
    """What the box for the text is called: a model that translates reads a source."""
    card = state.card(state.current().model)
    two = card is not None and card.kind == "encoder-decoder"
    return text(lang, "sidebar.source" if two else "sidebar.text")
