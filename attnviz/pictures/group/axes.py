"""The tokens along the two axes of a picture, with the labels that a reader sees.

In: what is shown, a batch row and a layer. Out: the `TokenAxis` of the queries and
that of the keys.
"""

from attnviz.pictures.group import groups, picture_places
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared.heads import TokenAxis


def token_axes(shown: PageContext, batch: int = 0, layer: int = 0) -> tuple[TokenAxis, TokenAxis]:
    """The tokens along the queries and along the keys."""
    group = shown.group
    call = group.calls[layer]
    queries = groups.queries(group, batch, layer)
    keys = groups.keys(group, batch, layer)
    return (
        TokenAxis(
            picture_places.labels(shown.lang, queries, call.query_places),
            queries.special,
            groups.generated_queries(group, layer),
        ),
        TokenAxis(
            picture_places.labels(shown.lang, keys, call.key_places),
            keys.special,
            groups.generated_keys(group, layer),
        ),
    )
