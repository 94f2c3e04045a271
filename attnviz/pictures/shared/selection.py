"""The selection that the browser reports, checked as any user input is.

In: the values that `setTriggerValue("selection", ...)` and `setTriggerValue("open", ...)` bring
from a component; they may be anything. Out: a frozen `Selection` or `OpenRequest` whose indices
fit the capture that the component showed, or None. `Literal` aliases here are the single list of
scales and of ways to treat special tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, cast, get_args

from attnviz.pictures.shared.canvas import LOCAL
from attnviz.pictures.shared.pages import DOORS, Door
from attnviz.types import HeadId

Scale = Literal["linear", "sqrt", "log"]
Special = Literal["show", "hide"]
Mean = Literal["layer", "all"]
Asked = Literal["forbid", "links"]
SCALES: tuple[Scale, ...] = get_args(Scale)
SPECIALS: tuple[Special, ...] = get_args(Special)
MEANS: tuple[Mean, ...] = get_args(Mean)


@dataclass(frozen=True)
class Extent:
    """The numbers of layers, heads, queries and keys to choose from.

    `heads` has the number for each layer, where these differ; then `n_heads` is the largest. `kept`
    has the heads of each layer that were kept, where not all were.
    """

    n_layers: int
    n_heads: int
    n_query: int
    n_key: int
    heads: Annotated[tuple[int, ...], LOCAL] = ()
    kept: tuple[tuple[int, ...], ...] = ()

    def last_head(self, layer: int) -> int:
        """The last head of a layer."""
        return (self.heads[layer] if self.heads else self.n_heads) - 1

    def nearest_head(self, layer: int, head: int) -> tuple[int, int]:
        """The layer and the head; the nearest one that was kept, or the last of a layer with fewer.

        A layer that does not exist stays so.
        """
        if self.kept:
            places = [HeadId(at, of) for at, heads in enumerate(self.kept) for of in heads]
            nearest = nearest_head(places, layer, head)
            return nearest.layer, nearest.head
        exists = layer < self.n_layers and self.heads
        return layer, min(head, self.last_head(layer)) if exists else head


@dataclass(frozen=True)
class Selection:
    """A committed choice; query and key are positions, None when nothing is pinned."""

    layer: int
    head: int
    query: int | None = None
    key: int | None = None
    scale: Scale = "sqrt"
    special: Special = "show"


@dataclass(frozen=True)
class OpenRequest:
    """A click that opens another page on a head, or the head itself."""

    page: Door
    layer: int
    head: int
    query: int | None = None
    key: int | None = None


@dataclass(frozen=True)
class LookQuestion:
    """A question about a head's cell: forbid its look, or no longer; who else links its words."""

    ask: Asked
    on: bool
    layer: int
    head: int
    query: int
    key: int


def parse_selection(value: object, extent: Extent) -> Selection | None:
    """The committed selection, or None when anything is missing, malformed or out of range."""
    place = _place(value, extent)
    if place is None or not isinstance(value, Mapping):
        return None
    scale, special = value.get("scale", "sqrt"), value.get("special", "show")
    if scale not in SCALES or special not in SPECIALS:
        return None
    return Selection(*place, scale=cast(Scale, scale), special=cast(Special, special))


def parse_open(value: object, extent: Extent) -> OpenRequest | None:
    """The request to open a page, or None when anything is missing, malformed or out of range."""
    place = _place(value, extent)
    if place is None or not isinstance(value, Mapping) or value.get("page") not in DOORS:
        return None
    return OpenRequest(cast(Door, value["page"]), *place)


def parse_question(value: object, extent: Extent) -> LookQuestion | None:
    """The question about a cell, or None when anything is missing, malformed or out of range."""
    place = _place(value, extent)
    if place is None or not isinstance(value, Mapping):
        return None
    (layer, head, query, key), asked = place, value.get("ask")
    if query is None or key is None or asked not in get_args(Asked):
        return None
    return LookQuestion(cast(Asked, asked), value.get("on") is True, layer, head, query, key)


def _place(value: object, extent: Extent) -> tuple[int, int, int | None, int | None] | None:
    if not isinstance(value, Mapping):
        return None
    layer, head = value.get("layer"), value.get("head")
    query, key = value.get("query"), value.get("key")
    if not (_is_index(layer, extent.n_layers) and _is_index(head, extent.n_heads)):
        return None
    if not (query is None or _is_index(query, extent.n_query)):
        return None
    if not (key is None or _is_index(key, extent.n_key)):
        return None
    assert isinstance(layer, int) and isinstance(head, int)
    # from a layer with more heads one may come to a layer with fewer
    nearest = extent.nearest_head(layer, head)
    return cast(tuple[int, int, int | None, int | None], (*nearest, query, key))


def _is_index(value: object, count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def nearest_head(heads: Sequence[HeadId], layer: int, head: int) -> HeadId:
    """The chosen head, or the nearest one that there is."""
    return min(heads, key=lambda place: (abs(place.layer - layer), abs(place.head - head)))


def extent_of(heads: Sequence[HeadId], longest: int) -> Extent:
    """The extent of the heads of a map or a survey, with positions up to `longest`."""
    layers = [head.layer for head in heads]
    counts = tuple(layers.count(layer) for layer in sorted(set(layers)))
    return Extent(len(counts), max(counts), longest, longest, counts)
