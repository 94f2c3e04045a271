"""Where the heads of a model are: the attention call that each site means.

In: the recorded calls of a clean pass. Out: a `Layout`. It is kept with the model, so that changes
can be made before a pass whose calls nobody has seen yet; the newest that knows a site counts.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from attnviz.attention.call import AttentionCall
from attnviz.attention.projection import ParameterProduct
from attnviz.attention.stage_changes import StageChange
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.changed.changer import CallPlace, PlacedChanges
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel
from attnviz.summary import shortened
from attnviz.types import Site

MAX_LAYOUTS = 4


@dataclass(frozen=True)
class CallSite:
    """One attention call of a pass, and the layer that it is.

    `only_weights` is True where the model's own code shows its weights and their product with the
    values, and nothing before. `n_rows` is how many rows a text has in the batch: 1, or its
    windows. `output_layer` is the layer that reads the outputs of all heads side by side, W_O;
    None if it is not known, or if a product with a parameter reads them (`is_read_by_product`).
    """

    place: CallPlace
    site: Site
    n_heads: int
    n_rows: int
    only_weights: bool
    output_layer: str | None
    is_read_by_product: bool = False

    @property
    def projected(self) -> bool:
        """True if W_O reads the heads' outputs as they are."""
        return self.output_layer is not None or self.is_read_by_product

    @property
    def windowed(self) -> bool:
        """True if a row of the batch is a window of a picture."""
        return self.n_rows > 1

    @property
    def decodes(self) -> bool:
        """True if the queries are a decoder's, beside an encoder."""
        return self.site.stack == "decoder"

    def placed(self, changes: Sequence[StageChange]) -> PlacedChanges:
        """Changes at this place."""
        own = self.site.kind, self.decodes, self.n_heads
        return PlacedChanges(tuple(changes), *own, self.output_layer, self.is_read_by_product)


@dataclass(frozen=True)
class Layout:
    """Every attention call of a pass, in order."""

    calls: tuple[CallSite, ...]

    @property
    def heads(self) -> tuple[Site, ...]:
        """Every head, in the order in which they run."""
        sites = [call.site.with_head(head) for call in self.calls for head in range(call.n_heads)]
        return tuple(dict.fromkeys(sites))

    def find(self, site: Site) -> tuple[CallSite, ...]:
        """The calls that a site means: one, or two where a layer attends twice (DiffLlama).

        A site without a stack means a layer outside all stacks, else that of the only stack.
        Raises `BadInput` for a layer or head that the model does not have.
        """
        same = [c for c in self.calls if (c.site.layer, c.site.kind) == (site.layer, site.kind)]
        layers = [call for call in same if site.stack in (None, call.site.stack)]
        layers = [call for call in layers if call.site.stack == site.stack] or layers
        stacks = {call.site.stack for call in layers}
        calls = tuple(call for call in layers if site.head is None or site.head < call.n_heads)
        if not calls or len(stacks) > 1:
            raise self._no_such(site, len(stacks) > 1)
        return calls

    def _no_such(self, site: Site, several: bool) -> BadInput:
        known = ", ".join(
            dict.fromkeys(f"{call.site} ({call.n_heads} heads)" for call in self.calls)
        )
        reason = "is in several stacks" if several else "does not exist"
        return BadInput(
            f"{site} {reason}: this model has {shortened(known, 400)}; heads count from 0",
            code="no_site",
            asked=str(site),
            allowed=shortened(known, 400),
        )


def layout_of(calls: Sequence[AttentionCall], n_input: int = 1) -> Layout:
    """The layout of a clean pass with so many texts or pictures."""
    seen: dict[str, int] = {}
    call_sites = []
    for call in calls:
        nth = seen.get(call.module, 0)
        seen[call.module] = nth + 1
        call_sites.append(
            CallSite(
                place=CallPlace(call.module, nth),
                site=Site(call.layer, None, call.kind, call.stack),
                n_heads=call.n_heads,
                n_rows=max(1, call.n_batch // n_input),
                only_weights=isinstance(call.inputs, StoredWeights),
                output_layer=None if _is_read_by_product(call) else _out(call),
                is_read_by_product=_is_read_by_product(call),
            )
        )
    return Layout(tuple(call_sites))


_layouts: WeakKeyDictionary[LoadedModel, list[Layout]] = WeakKeyDictionary()
_last_seen: WeakKeyDictionary[LoadedModel, tuple[object, ...]] = WeakKeyDictionary()
_lock = threading.Lock()


def remember(lm: LoadedModel, layout: Layout) -> None:
    """Keep a layout with its model."""
    with _lock:
        _last_seen.pop(lm, None)
        known = _layouts.setdefault(lm, [])
        if layout in known:
            known.remove(layout)
        known.insert(0, layout)
        del known[MAX_LAYOUTS:]


def remember_calls(lm: LoadedModel, calls: Sequence[AttentionCall], n_input: int) -> None:
    """Keep the layout of a pass with its model; not made again if the last pass had the same."""
    seen = tuple(
        (c.name, c.layer, c.kind, c.stack, c.n_heads, c.n_batch // n_input, type(c.inputs), _out(c))
        for c in calls
    )
    if _last_seen.get(lm) != seen:
        remember(lm, layout_of(calls, n_input))
        _last_seen[lm] = seen


def _out(call: AttentionCall) -> str | None:
    out = call.projections.get("out")
    return None if out is None else out.module


def _is_read_by_product(call: AttentionCall) -> bool:
    out = call.projections.get("out")
    return out is not None and isinstance(out.whole_layer, ParameterProduct)


def remembered(lm: LoadedModel, sites: Sequence[Site]) -> Layout | None:
    """The newest layout that has all of these sites; None where no pass had them."""
    with _lock:
        known = list(_layouts.get(lm, ()))
    return next((layout for layout in known if _has(layout, sites)), None)


def _has(layout: Layout, sites: Sequence[Site]) -> bool:
    try:
        return all(layout.find(site) for site in sites)
    except BadInput:
        return False
