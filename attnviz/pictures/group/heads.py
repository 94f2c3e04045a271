"""All heads of a group, as Overview and Head show them.

In: what is shown, and the measures of its heads. Out: a `HeadsView` of plain arrays and translated
texts. Nothing is computed here: the numbers come from the capture and from `measures`.
"""

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

import numpy as np

from attnviz.audio.sound import spectrogram
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.metrics.measures import UNITS
from attnviz.pictures.group import groups, picture_places
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import predicts, token_axes
from attnviz.pictures.group.measures import Measured
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.heads import First, HeadMeasure, HeadsView, Heard, LayerView, Weights
from attnviz.tokens.words import words

if TYPE_CHECKING:
    from attnviz.metrics import HeadRole
    from attnviz.types import Tokens

# columns of the spectrogram under the keys: in all, and for one frame
MAX_COLUMNS, MAX_PER_FRAME = 3072, 8


def all_heads(
    shown: PageContext,
    measured: Measured | None,
    weights: Weights | None = None,
    first: First | None = None,
) -> HeadsView:
    """All heads of a group on the first text, each with a sentence on what it does most.

    The sentences are left out where nothing is measured. `weights` are in place of all of them.
    """
    queries, keys = token_axes(shown)
    group, uneven = shown.group, shown.group.uneven
    return HeadsView(
        model=model_title(shown.lang, shown.captured.name),
        queries=queries,
        keys=keys,
        cross=group.cross,
        sentences=() if measured is None else sentences(shown, measured),
        weights=groups.kept_weights(group) if weights is None else weights,
        patches=picture_places.picture(shown.captured, group),
        visible=None if uneven else groups.stacked_masks(group),
        layers=_layers(shown) if uneven else (),
        capture=capture_name(shown),
        predicts=predicts(shown),
        first=first,
        kept=group.kept,
    )


def capture_name(shown: PageContext) -> str:
    """A short name of all that determined the weights that are shown; "" if no app keeps them."""
    if not shown.captured.key:
        return ""
    return sha256(shown.key.encode()).hexdigest()[:16]


def grid_view(shown: PageContext, measured: Measured | None) -> HeadsView:
    """All heads of a group for the grid, with every measure that this text has."""
    view = small_view(shown, measured)
    return view if measured is None else replace(view, measures=measures(shown.lang, measured))


def small_view(shown: PageContext, measured: Measured | None) -> HeadsView:
    """All heads of a group, for small pictures."""
    return replace(all_heads(shown, measured), small=True)


def head_view(shown: PageContext, measured: Measured | None) -> HeadsView:
    """All heads of a group for the picture of one head, which switches between them.

    It has the words that the tokens make, and the sound under the keys.
    """
    view = replace(all_heads(shown, measured), heard=spectrum(shown))
    if view.patches is not None or view.layers:
        return view
    loaded = shown.captured.loaded
    tokenizer = None if loaded is None else loaded.tokenizer
    join = "".join if tokenizer is None else tokenizer.convert_tokens_to_string
    return replace(
        view,
        words=words(groups.queries(shown.group), join),
        key_words=words(groups.keys(shown.group), join),
    )


def measures(lang: Language, measured: Measured) -> tuple[HeadMeasure, ...]:
    """Every measure that this text has, with its title and unit."""
    return tuple(
        HeadMeasure(name, text(lang, f"measure.{name}"), UNITS[name], values)
        for name, values in measured.measures.items()
        if np.isfinite(values).any()
    )


def sentences(shown: PageContext, measured: Measured) -> tuple[tuple[str, ...], ...]:
    """A sentence for each head on what it does most, by layer."""
    return tuple(
        tuple(
            text(shown.lang, "role.not_kept")
            if role is None
            else _sentence(shown.lang, role, groups.keys(shown.group, layer=layer))
            for role in roles
        )
        for layer, roles in enumerate(measured.roles)
    )


def _sentence(
    lang: Language, role: "HeadRole", keys: "Tokens", of: Literal["all", "words"] = "all"
) -> str:
    """A sentence on what a head does most; shares are `of` all attention or of that to words."""
    most = text(
        lang,
        f"role.{role.role}",
        percent=round(100 * role.fraction),
        share=text(lang, f"role.share_{of}"),
        chance=_percent(lang, role.baseline),
        **_column(role, keys),
    )
    if role.rest is None or role.rest.role == "spread":
        return most
    rest = _sentence(lang, role.rest, keys, "words")
    return text(lang, "role.with_rest", sentence=most, rest=rest)


def _column(role: "HeadRole", keys: "Tokens") -> dict[str, str | int]:
    """The word that most rows attend to, and how many of those that can see it."""
    if role.role != "token" or role.key is None or role.rows is None:
        return {}
    clear, rows = role.rows
    return {"token": keys.labels[role.key], "clear": clear, "rows": rows}


def _percent(lang: Language, fraction: float) -> str:
    """Whole percents; of less than one, its first digit."""
    return number(lang, 100 * fraction, ".0f" if fraction >= 0.01 else ".1g")


def _layers(shown: PageContext) -> tuple[LayerView, ...]:
    """The tokens, mask and patches of each layer, where layers differ."""
    return tuple(
        LayerView(
            *token_axes(shown, layer=layer),
            visible=groups.mask(shown.group, layer),
            patches=picture_places.patches(shown, layer),
        )
        for layer in range(shown.group.n_layers)
    )


def spectrum(shown: PageContext) -> Heard | None:
    """The spectrogram under the keys; None unless each key is a frame of a sound."""
    captured, group = shown.captured, shown.group
    step, sound = captured.capture.frame_s, captured.media.sound
    keys_are_frames = group.cross or group.stack != "decoder"
    if step is None or sound is None or group.uneven or not keys_are_frames:
        return None
    n_key = shown.size.extent.n_key
    per_frame = max(1, min(MAX_PER_FRAME, MAX_COLUMNS // n_key))
    levels = spectrogram(sound, n_key * per_frame, step / per_frame)
    return Heard(levels, n_key, step, sound.seconds)
