"""The first cell that each embedded model shows: a head, a query and a key worth seeing.

Each opening is the head with the largest difference, on its model's first example, between the
weight from that query to that key and the other rows' mean weight on it (`pictures.group.ranking`);
a test measures all of them again. A head in which every row attends to one key does not pass this
control.
"""

from dataclasses import dataclass

from attnviz.i18n import DEFAULT, text
from attnviz.types import HeadId, Kind, Stack


@dataclass(frozen=True)
class Opening:
    """A head with a query and a key, by position and by token, and what was measured there.

    `weight` is the head's weight from the query to the key, `others` the mean of its other rows.
    """

    head: HeadId
    query: int
    key: int
    query_token: str
    key_token: str
    weight: float
    others: float
    stack: Stack | None = None
    kind: Kind | None = None


OPENINGS = {
    "minilm": Opening(HeadId(3, 1), 10, 2, "it", "animal", 0.68, 0.11),
    "mha-55": Opening(HeadId(0, 0), 2, 0, "x3", "x1", 0.27, 0.12),
    "stories": Opening(HeadId(2, 1), 14, 2, "to", "Mary", 0.98, 0.08),
    "stories-llama": Opening(HeadId(1, 4), 14, 4, "to", "John", 0.99, 0.10),
    "translator": Opening(
        HeadId(1, 2), 2, 3, "petit", "cat", 1.00, 0.00, stack="decoder", kind="cross"
    ),
    "dates": Opening(HeadId(1, 2), 3, 9, "4", "8", 1.00, 0.02, stack="decoder", kind="cross"),
    "shapes": Opening(HeadId(0, 0), 0, 22, "[CLS]", "r3c3", 0.53, 0.03),
    "sentiment": Opening(HeadId(0, 3), 5, 3, "good", "not", 0.94, 0.07),
}

# what the other examples for any model show in MiniLM, by their names; chosen by the same measure
SIGHTS = {
    "wide": Opening(HeadId(3, 1), 10, 2, "it", "animal", 0.28, 0.12),
    "bank": Opening(HeadId(0, 4), 5, 8, "bank", "river", 0.69, 0.06),
    "names": Opening(HeadId(2, 9), 10, 4, "John", "John", 0.86, 0.01),
    "short": Opening(HeadId(0, 2), 3, 2, "sat", "cat", 1.00, 0.00),
}


def sight(model: str, sentence: str) -> Opening | None:
    """The head, query and key worth seeing in an example; None for any other text or model."""
    names = {text(DEFAULT, f"example.{name}"): name for name in SIGHTS}
    return SIGHTS[names[sentence]] if model == "minilm" and sentence in names else None
