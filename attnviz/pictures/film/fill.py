"""The film of the start page: what one head does with a word, and what another word changes.

In: two captures of sentences that differ in one token, a head, a query and a key. Out: a `FilmView`
whose every number is the model's, each weight beside its control
(`attnviz.pictures.group.ranking`).
"""

import numpy as np

from attnviz.pictures.film import FilmView, PairWeight, Reading
from attnviz.pictures.group import groups, ranking
from attnviz.pictures.group.groups import Group
from attnviz.pictures.shared.heads import TokenAxis
from attnviz.types import HeadId


def film(first: Group, second: Group, head: HeadId, query: int, key: int) -> FilmView:
    """The film of a head's cell in two sentences that differ in one token.

    The rival is the word, beside the key, that gets most weight in the second sentence; beside it
    stands the special token that gets most.
    `ValueError` if they differ in more or fewer tokens, `BadInput` for a position they do not have.
    """
    axes = [_axis(group) for group in (first, second)]
    changed = _changed(*axes)
    weights = [groups.stacked(group) for group in (first, second)]
    of_head = [of_text[head.layer, head.head] for of_text in weights]
    rows = [of_text[query] for of_text in of_head]
    weights_of_words = np.where(axes[1].special, -np.inf, rows[1])
    weights_of_words[[query, key, changed]] = -np.inf
    rival = int(np.argmax(weights_of_words))
    special = int(np.argmax(np.where(axes[1].special, rows[1], -np.inf)))
    before, after = (
        Reading(
            axis, own, own[query], *(_link(group, head, query, at) for at in (key, rival, special))
        )
        for group, axis, own in zip((first, second), axes, of_head, strict=True)
    )
    return FilmView(before, after, weights[0], head, query, key, rival, special, changed)


def _changed(first: TokenAxis, second: TokenAxis) -> int:
    """The one token in which two sentences differ."""
    pairs = zip(first.labels, second.labels, strict=True)
    (place,) = [place for place, (before, after) in enumerate(pairs) if before != after]
    return place


def _axis(group: Group) -> TokenAxis:
    tokens = groups.keys(group)
    return TokenAxis(tokens.labels, tokens.special, np.zeros(len(tokens), np.bool_))


def _link(group: Group, head: HeadId, query: int, key: int) -> PairWeight:
    link = next(link for link in ranking.links(group, query, key) if link.head == head)
    return PairWeight(link.share, link.control)
