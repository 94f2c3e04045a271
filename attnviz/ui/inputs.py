"""What the components are given: plain arrays and translated texts, made from a capture.

In: a language, a `Captured`, and for Steps and Masks a layer and a head. Out: the frozen inputs of
the component packages. Nothing is computed here but by asking the library.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float32, UInt8

import attnviz
from attnviz.errors import UnsupportedAttention
from attnviz.i18n import Language, catalogue, text
from attnviz.ui import sources
from attnviz.ui.cache import Captured
from attnviz.ui.components import masks as masks_component
from attnviz.ui.components import steps as steps_component
from attnviz.ui.components.heads import HeadsView, strings_of
from attnviz.ui.components.selection import Extent

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.metrics import HeadRole

# why a cell of Steps is blocked, by bit; the last where neither of the others is a reason
BLOCKERS = ("padding", "causal", "model")
NAMED_MASKS = BLOCKERS[:2]
# bits of NAMED_MASKS, the likeliest reading first: a sentence without padding fits two of them
LIKELY_VARIANTS = (1, 3, 0, 2)
UNEXPLAINED = np.uint8(1 << BLOCKERS.index("model"))


def strings(lang: Language, keys: tuple[str, ...]) -> dict[str, str]:
    """The templates of a component's texts, by the keys that it asks for."""
    return strings_of(keys, catalogue(lang).__getitem__)


def extent(captured: Captured) -> Extent:
    """How many layers, heads and tokens of the first text there are to choose from."""
    capture = captured.capture
    return Extent(capture.n_layers, capture.n_heads, len(capture.tokens), len(capture.tokens))


def heads(lang: Language, captured: Captured) -> HeadsView:
    """All heads of the first text, each with a sentence on what it does most."""
    capture = captured.capture
    return HeadsView(
        model=sources.label(lang, captured.name),
        tokens=capture.tokens.labels,
        special=capture.tokens.special,
        sentences=tuple(
            tuple(sentence(lang, role) for role in of_layer) for of_layer in captured.roles
        ),
        weights=capture.all_weights(),
    )


def sentence(lang: Language, role: "HeadRole") -> str:
    """What a head does most, in one plain sentence."""
    said = text(
        lang,
        f"role.{role.role}",
        percent=f"{100 * role.fraction:.0f}",
        chance=f"{100 * role.baseline:.0f}",
    )
    if role.rest is None or role.rest.role == "spread":
        return said
    return text(lang, "role.with_rest", sentence=said, rest=sentence(lang, role.rest))


def steps(lang: Language, captured: Captured, layer: int, head: int) -> steps_component.StepsData:
    """Every stage of one head of the first text."""
    capture = captured.capture
    call = capture.call(layer)
    derived = attnviz.derive(call, head)
    return steps_component.StepsData(
        tokens=capture.tokens.labels,
        special=capture.tokens.special,
        layer=layer,
        head=head,
        n_layers=capture.n_layers,
        n_heads=capture.n_heads,
        scaling=derived.inputs.scaling,
        views=derived.views(),
        absent={"x": text(lang, "absent.x"), "projected": text(lang, "absent.projected")},
        blocked=_blocked(derived.mask, capture.tokens.padding),
        mask_names=tuple(text(lang, f"mask.{name}") for name in BLOCKERS),
        mask_reasons=tuple(text(lang, f"mask.reason_{name}") for name in BLOCKERS),
        strings=strings(lang, steps_component.STRING_KEYS),
    )


def _blocked(
    may_attend: "Tensor | None", padding: Bool[np.ndarray, "token"]
) -> UInt8[np.ndarray, "query key"]:
    """Bit i set where the model blocks a cell and the i-th of `BLOCKERS` is a reason for it."""
    bits = attnviz.masks.blockers(_named(padding)).numpy()
    if may_attend is None:
        return np.zeros_like(bits)
    open_cells = may_attend.cpu().numpy()
    return np.where(open_cells, np.uint8(0), np.where(bits == 0, UNEXPLAINED, bits))


def _named(padding: Bool[np.ndarray, "token"]) -> "dict[str, Tensor]":
    """The masks that have a name, in the order of `NAMED_MASKS`; True = may attend."""
    import torch

    n = len(padding)
    return {
        "padding": attnviz.masks.padding(torch.from_numpy(~padding), n),
        "causal": attnviz.masks.causal(n),
    }


def masks(lang: Language, captured: Captured, layer: int, head: int) -> masks_component.MasksData:
    """One head of every sentence of the batch, under each combination of the named masks."""
    capture = captured.capture
    call = capture.call(layer)
    sentences = [capture.tokens_of(batch) for batch in range(capture.n_batch)]
    named = [_named(of.padding) for of in sentences]
    model = [attnviz.derive(call, head, batch) for batch in range(capture.n_batch)]
    variants = [
        [attnviz.derive(call, head, batch, mask) for mask in _combinations(of)]
        for batch, of in enumerate(named)
    ]
    return masks_component.MasksData(
        tokens=tuple(of.labels for of in sentences),
        special=np.stack([of.special for of in sentences]),
        padding=np.stack([of.padding for of in sentences]),
        layer=layer,
        head=head,
        n_layers=capture.n_layers,
        n_heads=capture.n_heads,
        as_model=_as_model([of.mask for of in model], named),
        mask_names=NAMED_MASKS,
        mask_reasons=tuple(text(lang, f"mask.reason_{name}") for name in NAMED_MASKS),
        blocked=np.stack([attnviz.masks.blockers(of).numpy() for of in named]),
        weights=_stacked([[each.weights for each in of] for of in variants]),
        masked=_stacked([[each.masked for each in of] for of in variants]),
        scaled=np.stack([of.scaled.cpu().numpy() for of in model]),
        strings=strings(lang, masks_component.STRING_KEYS),
    )


def _combinations(named: "Mapping[str, Tensor]") -> "list[Tensor]":
    """Every combination of masks; bit i of the position: the i-th mask applies."""
    import torch

    layers = list(named.values())
    nothing = torch.ones_like(layers[0])
    return [
        attnviz.masks.combine(
            nothing, *(layer for bit, layer in enumerate(layers) if variant >> bit & 1)
        )
        for variant in range(1 << len(layers))
    ]


def _as_model(ran: "Sequence[Tensor | None]", named: "Sequence[Mapping[str, Tensor]]") -> int:
    """The combination that the model ran on every sentence; padding is meant where it is none."""
    import torch

    found = [_combinations(of) for of in named]
    for variant in LIKELY_VARIANTS:
        if all(
            torch.equal(torch.ones_like(of[variant]) if mask is None else mask, of[variant])
            for mask, of in zip(ran, found, strict=True)
        ):
            return variant
    raise UnsupportedAttention(
        "the model's mask is not made of a padding and a causal mask; Masks can show only those",
        code="other_mask",
    )


def _stacked(tensors: "list[list[Tensor]]") -> Float32[np.ndarray, "batch variant query key"]:
    rows = [np.stack([each.cpu().numpy() for each in of]) for of in tensors]
    return np.stack(rows)
