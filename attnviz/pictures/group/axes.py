"""The tokens along the two axes of a picture, with the labels that a reader sees.

In: what is shown, a batch row and a layer. Out: the `TokenAxis` of the queries and
that of the keys. A decoder's row has read a token and predicts the next one: it has both names.
"""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from attnviz.i18n import Language, text
from attnviz.pictures.group import groups, picture_places
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared.heads import TokenAxis

# another arrow than the one from a query to its key
PREDICTS = "\N{THIN SPACE}\N{RIGHTWARDS DASHED ARROW}\N{THIN SPACE}"
RIGHT_TO_LEFT = re.compile(
    "[\u200f\u202a-\u202e\u2066-\u2069\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def token_axes(shown: PageContext, batch: int = 0, layer: int = 0) -> tuple[TokenAxis, TokenAxis]:
    """The tokens along the queries and along the keys."""
    group = shown.group
    call = group.calls[layer]
    queries = groups.queries(group, batch, layer)
    keys = groups.keys(group, batch, layer)
    labels = picture_places.labels(shown.lang, queries, call.query_places)
    return (
        TokenAxis(
            labels,
            queries.special,
            groups.generated_queries(group, layer),
            row_names(labels, queries.padding) if predicts(shown) else (),
        ),
        TokenAxis(
            picture_places.labels(shown.lang, keys, call.key_places),
            keys.special,
            groups.generated_keys(group, layer),
        ),
    )


def row_labels(shown: PageContext, queries: TokenAxis) -> tuple[str, ...]:
    """The names of a group's rows in a sentence.

    A row of cross-attention looks for the word that comes next: it has its name, as on Look.
    """
    return queries.rows if shown.group.kind == "cross" else queries.labels


def word_at(lang: Language, labels: Sequence[str], at: int) -> str:
    """A token as a sentence names it: with its position, if the same word stands elsewhere too."""
    word = labels[at].strip()
    if sum(label.strip() == word for label in labels) == 1:
        return word
    return text(lang, "component.shared.token_at", token=word, position=at)


def predicts(shown: PageContext) -> bool:
    """True if each row of the group predicts the token after the one that it has read."""
    loaded, stack = shown.captured.loaded, shown.group.stack
    if stack is None:
        return loaded is not None and loaded.kind == "decoder"
    return stack == "decoder"


def row_names(labels: Sequence[str], padding: Bool[np.ndarray, "token"]) -> tuple[str, ...]:
    """The name of each row: its token, and the one that comes next, if the text goes on."""
    last = len(labels) - 1
    return tuple(
        label
        if row == last or padding[row] or padding[row + 1]
        else f"{isolated(label)}{PREDICTS}{isolated(labels[row + 1])}"
        for row, label in enumerate(labels)
    )


def isolated(text: str) -> str:
    """Text that runs from right to left, isolated from what surrounds it; other text as it is."""
    if not RIGHT_TO_LEFT.search(text):
        return text
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"
