"""The tokens along the two axes of a picture, with the labels that a reader sees.

In: what is shown, a batch row and a layer. Out: an `Axis` for the queries and one for the keys.
"""

from attnviz.components.heads import Axis
from attnviz.views import group_tokens, picture_places
from attnviz.views.captured import Shown


def token_axes(shown: Shown, batch: int = 0, layer: int = 0) -> tuple[Axis, Axis]:
    """The tokens along the queries and along the keys."""
    group = shown.group
    call = group.calls[layer]
    queries = group_tokens.queries(group, batch, layer)
    keys = group_tokens.keys(group, batch, layer)
    return (
        Axis(
            picture_places.labels(shown.lang, queries, call.query_places),
            queries.special,
            group_tokens.generated_queries(group, layer),
        ),
        Axis(
            picture_places.labels(shown.lang, keys, call.key_places),
            keys.special,
            group_tokens.generated_keys(group, layer),
        ),
    )
