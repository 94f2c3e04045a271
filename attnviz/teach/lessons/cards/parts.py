"""Parts of the model by card: those that a card is about, and the card that teaches a part.

In: lesson and card. Out: names of parts, as the map of the model has them. `CARDS` leads from a
part to the card that teaches it.
"""

from collections.abc import Mapping

from attnviz.pictures.model_map import PartName
from attnviz.teach.lessons.cards.glossary import CardPath

CARDS: Mapping[PartName, CardPath] = {
    "tokens": ("where", "tokens"),
    "embedding": ("where", "vectors"),
    "place": ("positions", "table"),
    "norm": ("where", "norm"),
    "attention": ("ask", "dictionary"),
    "add": ("where", "stream"),
    "mlp": ("where", "mlp"),
    "logits": ("where", "logits"),
    "softmax": ("block", "softmax"),
}
ABOUT: Mapping[CardPath, tuple[PartName, ...]] = {
    ("where", "next"): ("tokens", "softmax"),
    ("where", "tokens"): ("tokens",),
    ("where", "script"): ("tokens",),
    ("where", "vectors"): ("embedding", "place"),
    ("where", "stream"): ("add",),
    ("where", "mlp"): ("mlp",),
    ("where", "norm"): ("norm",),
    ("where", "logits"): ("logits", "softmax"),
    ("where", "parts"): ("attention", "mlp"),
    ("block", "softmax"): ("attention", "softmax"),
    ("positions", "table"): ("place",),
    ("positions", "waves"): ("place",),
    ("positions", "offsets"): ("place",),
    ("positions", "learned"): ("place",),
    ("birth", "needs"): ("attention", "add"),
}


def about(slug: str, card: str) -> tuple[PartName, ...]:
    """The parts that a card is about: attention, unless it says otherwise."""
    return ABOUT.get((slug, card), ("attention",))
