"""The cards of models, known before a model is loaded in this run, and what they say of its input.

In: a model's name. Out: its card, of the registry or as this session saw it.
"""

from attnviz.app.session import store
from attnviz.models.registry import REGISTRY
from attnviz.types import ModelCard, ModelKind

KEPT = "cards"
MAX_CARDS = 8
GENERATING: tuple[ModelKind, ...] = ("decoder", "encoder-decoder")
READS_PICTURES: tuple[ModelKind, ...] = ("vision", "text-image")
READS_NO_TEXT: tuple[ModelKind, ...] = ("vision", "speech", "module")


def card(name: str) -> ModelCard | None:
    """The card of a model; None for one that this session never loaded."""
    if name in REGISTRY:
        return REGISTRY[name].card
    seen: dict[str, ModelCard] = store.get(KEPT, {})
    return seen.get(name)


def remember(name: str, loaded: ModelCard) -> bool:
    """Store a loaded model's card; True if it was not stored yet."""
    if card(name) is not None:
        return False
    seen: dict[str, ModelCard] = store.get(KEPT, {})
    newest = list(seen.items())[1 - MAX_CARDS :]
    store.put(KEPT, {**dict(newest), name: loaded})
    return True


def generates(card: ModelCard) -> bool:
    """True if a model continues what it reads for as many tokens as it is asked to."""
    return card.kind in GENERATING or card.writes_of_pictures


def reads_text(card: ModelCard | None) -> bool:
    """True for a model that reads a text, alone or with a picture; also for one not known yet."""
    return card is None or card.kind not in READS_NO_TEXT
