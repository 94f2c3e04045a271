"""What the components are given: plain arrays and translated texts, made from a capture.

In: a language, a `Group` of attentions, and for Steps and Masks a layer and a head. Out: the frozen
inputs of the component packages. Nothing is computed here but by asking the library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, UInt8

import attnviz
from attnviz.attention.edits import Edit
from attnviz.audio.sound import spectrogram
from attnviz.components import steps as steps_component
from attnviz.components.heads import Axis, HeadMeasure, HeadsView, Heard, LayerView, strings_of
from attnviz.i18n import Language, catalogue, text
from attnviz.lab.sheet import Sheet
from attnviz.tokens.words import words
from attnviz.types import StepView
from attnviz.ui import cache, placed, sources
from attnviz.ui.cache import Captured
from attnviz.ui.groups import Group

if TYPE_CHECKING:
    from torch import Tensor

    from attnviz.attention.steps import Steps
    from attnviz.metrics import HeadRole

# why a cell of Steps is blocked, by bit; the last where neither of the others is a reason
BLOCKERS = ("padding", "causal", "model")
NAMED_MASKS = BLOCKERS[:2]
MOST_COLUMNS, MOST_PER_FRAME = 3072, 8  # of a spectrogram under the keys
UNEXPLAINED = np.uint8(1 << BLOCKERS.index("model"))


def strings(lang: Language, keys: tuple[str, ...]) -> dict[str, str]:
    """The templates of a component's texts, by the keys that it asks for."""
    return strings_of(keys, catalogue(lang).__getitem__)


def heads(lang: Language, captured: Captured, group: Group) -> HeadsView:
    """All heads of a group on the first text, each with a sentence on what it does most."""
    queries, keys = token_axes(lang, group)
    uneven = group.uneven
    return HeadsView(
        model=sources.label(lang, captured.name),
        queries=queries,
        keys=keys,
        cross=group.cross,
        sentences=sentences(lang, captured, group),
        weights=group.weights() if uneven else group.all_weights(),
        patches=placed.picture(captured, group),
        visible=None if uneven else group.visible(),
        layers=layers(lang, captured, group) if uneven else (),
    )


def layers(lang: Language, captured: Captured, group: Group) -> tuple[LayerView, ...]:
    """What each layer has of its own, where layers differ."""
    return tuple(
        LayerView(
            *token_axes(lang, group, layer=layer),
            visible=group.seen(layer),
            patches=placed.patches(lang, captured, group, layer),
        )
        for layer in range(group.n_layers)
    )


def overview(lang: Language, captured: Captured, group: Group) -> HeadsView:
    """All heads of a group, with every measure that this text has."""
    return replace(heads(lang, captured, group), measures=measures(lang, captured, group))


def measures(lang: Language, captured: Captured, group: Group) -> tuple[HeadMeasure, ...]:
    """What can be measured of the heads of a group on this text."""
    from attnviz.metrics.measures import UNITS

    return tuple(
        HeadMeasure(name, text(lang, f"measure.{name}"), UNITS[name], values)
        for name, values in cache.measures(captured, group).items()
        if np.isfinite(values).any()
    )


def sentences(lang: Language, captured: Captured, group: Group) -> tuple[tuple[str, ...], ...]:
    """What each head of a group does most, in words."""
    return tuple(
        tuple(sentence(lang, role) for role in of_layer)
        for of_layer in cache.roles(captured, group)
    )


def one_head(lang: Language, captured: Captured, group: Group) -> HeadsView:
    """All heads of a group, and the words that their tokens make."""
    view, queries, keys = heads(lang, captured, group), group.queries(), group.keys()
    view = replace(view, heard=heard(captured, group))
    if view.patches is not None or view.layers:
        return view
    tokenizer = captured.model.tokenizer
    join = "".join if tokenizer is None else tokenizer.convert_tokens_to_string
    return replace(view, words=words(queries, join), key_words=words(keys, join))


def heard(captured: Captured, group: Group) -> Heard | None:
    """The sound under the keys, where each of them is a frame of it."""
    step, sound, n = captured.capture.frame_s, captured.sound, group.extent.n_key
    frames = group.cross or group.stack != "decoder"
    if step is None or sound is None or group.uneven or not frames:
        return None
    per_frame = max(1, min(MOST_PER_FRAME, MOST_COLUMNS // n))
    levels = spectrogram(sound, n * per_frame, step / per_frame)
    return Heard(levels, n, step, sound.seconds)


def token_axes(lang: Language, group: Group, batch: int = 0, layer: int = 0) -> tuple[Axis, Axis]:
    """The tokens along the queries and along the keys."""
    queries, keys = group.queries(batch, layer), group.keys(batch, layer)
    call = group.calls[layer]
    return (
        Axis(
            placed.labels(lang, queries, call.query_places), queries.special, group.written(layer)
        ),
        Axis(placed.labels(lang, keys, call.key_places), keys.special, group.written_keys(layer)),
    )


def _percent(share: float) -> str:
    """Whole percents; of less than one, its first digit."""
    return f"{100 * share:.0f}" if share >= 0.01 else f"{100 * share:.1g}"


def sentence(lang: Language, role: "HeadRole") -> str:
    """What a head does most, in one plain sentence."""
    said = text(
        lang,
        f"role.{role.role}",
        percent=f"{100 * role.fraction:.0f}",
        chance=_percent(role.baseline),
    )
    if role.rest is None or role.rest.role == "spread":
        return said
    return text(lang, "role.with_rest", sentence=said, rest=sentence(lang, role.rest))


def steps(
    lang: Language,
    captured: Captured,
    group: Group,
    layer: int,
    head: int,
    edits: Sequence[Edit] = (),
) -> steps_component.StepsData:
    """Every stage of one head of the first text, after and before what was edited in it."""
    call, row, apart = group.call(layer), group.row(layer), group.apart(layer)
    before = cache.steps(captured, group, layer, head)
    derived = attnviz.derive(call, head, row, edits=edits, before=before) if edits else before
    queries, keys = token_axes(lang, group, layer=layer)
    long_text = "_long" if call.row_step > 1 else ""
    named = _named(group.keys(0, layer).padding, call.n_query, apart)
    reach = None if derived.reach is None else derived.reach.cpu().numpy()
    return steps_component.StepsData(
        queries=queries,
        keys=keys,
        cross=apart,
        layer=layer,
        head=head,
        n_layers=group.n_layers,
        n_heads=call.n_heads,
        scaling=derived.inputs.scaling,
        sink=derived.inputs.sinks is not None,
        views=derived.views(),
        absent={
            "x": text(lang, f"absent.x{long_text}"),
            "projected": text(lang, "absent.projected"),
        },
        blocked=_blocked(derived.mask, named, group.queries(0, layer).padding),
        mask_names=tuple(text(lang, f"mask.{name}") for name in BLOCKERS),
        mask_reasons=tuple(text(lang, f"mask.reason_{name}") for name in BLOCKERS),
        strings=strings(lang, steps_component.STRING_KEYS),
        reach=reach,
        edits=tuple(edits),
        original=_changed(derived, before) if edits else (),
        turned=derived.turned,
        factors=derived.factors,
        without_bias=derived.without_bias,
        coarser=call.key_places is not None and call.key_places.coarse,
        patches=placed.patches(lang, captured, group, layer),
        picture=captured.picture,
    )


def sheet_steps(lang: Language, sheet: Sheet) -> steps_component.StepsData:
    """Every stage of a sheet of typed matrices; its badges compare with torch's own kernel."""
    from attnviz.lab.run import call

    derived = attnviz.derive(call(sheet), 0)
    reach = None if derived.reach is None else derived.reach.cpu().numpy()
    of_kernel = {"badge": "lab.badge", "no_reference": "lab.no_reference"}
    return steps_component.StepsData(
        queries=_plain_axis(sheet.labels(sheet.n_query)),
        keys=_plain_axis(sheet.labels(sheet.n_key)),
        cross=False,
        layer=0,
        head=0,
        n_layers=1,
        n_heads=1,
        scaling=sheet.scaling,
        sink=False,
        views=derived.views(),
        absent={"x": text(lang, "lab.no_x"), "projected": text(lang, "lab.no_w_o")},
        blocked=(~sheet.may_attend).astype(np.uint8),
        mask_names=(text(lang, f"lab.mask_kind_{sheet.mask}"),),
        mask_reasons=() if sheet.mask == "none" else (text(lang, f"lab.reason_{sheet.mask}"),),
        strings={
            **strings(lang, steps_component.STRING_KEYS),
            **{name: catalogue(lang)[key] for name, key in of_kernel.items()},
        },
        reach=reach,
        without_bias=frozenset(("q", "k", "v", "projected")),
        editable=False,
        given=not sheet.from_x,
    )


def _plain_axis(labels: tuple[str, ...]) -> Axis:
    nothing = np.zeros(len(labels), dtype=np.bool_)
    return Axis(labels, nothing, nothing)


def _changed(after: "Steps", before: "Steps") -> tuple[StepView, ...]:
    """The stages that differ, as they were before."""
    now = {view.stage: view.values for view in after.views()}
    return tuple(
        view for view in before.views() if not np.array_equal(view.values, now[view.stage])
    )


def _blocked(
    may_attend: "Tensor | None",
    named: "Mapping[str, Tensor]",
    padding: Bool[np.ndarray, "query"],
) -> UInt8[np.ndarray, "query key"]:
    """Bit i set where the model blocks a cell and the i-th of `BLOCKERS` is a reason for it.

    A mask with a name is a reason only where the model blocks all that it would block.
    """
    masks = {name: mask.cpu().numpy() for name, mask in named.items()}
    bits = np.zeros(next(iter(masks.values())).shape, dtype=np.uint8)
    if may_attend is None:
        return bits
    open_cells = may_attend.cpu().numpy()
    for bit, mask in enumerate(masks.values()):
        if not (open_cells & ~mask)[~padding].any():
            bits |= np.where(mask, 0, 1 << bit).astype(np.uint8)
    return np.where(open_cells, np.uint8(0), np.where(bits == 0, UNEXPLAINED, bits))


def _named(
    padding: Bool[np.ndarray, "key"], n_query: int, cross: bool = False
) -> "dict[str, Tensor]":
    """The masks that have a name, in the order of `NAMED_MASKS`; True = may attend."""
    import torch

    pads = {"padding": attnviz.masks.padding(torch.from_numpy(~padding), n_query)}
    return pads if cross else pads | {"causal": attnviz.masks.causal(n_query, len(padding))}
