"""The views of a page: what each component shows, for each group of a capture's attentions.

In: a capture, and with it what the caller knows of it (`PageSource`). Out: by view and head what
the app sends to a browser, not packed yet. Only the heads that were named have Steps and Masks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from jaxtyping import UInt8

from attnviz.attention.capture import Capture
from attnviz.attention.steps import derive
from attnviz.errors import bad_argument
from attnviz.i18n import Language, text
from attnviz.pictures import alignment, grid, head, masks, patches, steps
from attnviz.pictures.group import heads as head_views
from attnviz.pictures.group import picture_places
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.groups import Group
from attnviz.pictures.group.measures import measure
from attnviz.pictures.masks import fill as mask_views
from attnviz.pictures.shared.canvas import SentView, sent
from attnviz.pictures.steps import fill as step_views
from attnviz.summary import shortened
from attnviz.types import HeadId, Stage

if TYPE_CHECKING:
    from attnviz.models.loaded_model import LoadedModel

# beyond so many tokens, matrices as wide as the model stay out: they would be most of the page
WIDE_UP_TO = 48
WIDE: tuple[Stage, ...] = ("x", "concat", "projected")
HeadView = Literal["steps", "masks"]
HEAD_VIEWS: tuple[HeadView, ...] = get_args(HeadView)  # those that show one head each


@dataclass(frozen=True, eq=False)
class PageSource:
    """A capture with what it does not hold itself: its model and the picture that it saw."""

    capture: Capture
    model: "LoadedModel | None" = None
    picture: UInt8[np.ndarray, "row column rgb"] | None = None

    def captured(self) -> AppCapture:
        """The capture as views take it."""
        return AppCapture.alone(self.capture, self.model, self.picture)


@dataclass(frozen=True)
class PagePart:
    """A view and what its canvas is sent, for one head where there is one for each."""

    view: str
    canvas: str
    data: SentView
    place: HeadId | None = None


def parts(shown: PageContext, chosen: Sequence[HeadId]) -> Iterator[PagePart]:
    """The views of a group, Head and Overview first; Steps and Masks of the chosen heads."""
    shown.size.require_cells()
    group, lang = shown.group, shown.lang
    measured = measure(group)
    # no name holds the weights of a view while the next one is made
    yield PagePart("head", "head", sent(head.CANVAS, head_views.head_view(shown, measured), lang))
    yield PagePart(
        "overview", "grid", sent(grid.CANVAS, head_views.grid_view(shown, measured), lang)
    )
    if not group.uneven and picture_places.picture(shown.captured, group) is not None:
        every = sent(patches.CANVAS, head_views.all_heads(shown, measured), lang)
        yield PagePart("picture", "patches", every)
    if shown.captured.loaded is not None and is_aligned(group):
        yield PagePart("alignment", "alignment", _alignment(shown))
    for place in chosen:
        for view in HEAD_VIEWS:
            data = head_data(shown, view, place)
            if data is not None:
                yield PagePart(view, view, data, place)


def is_aligned(group: Group) -> bool:
    """True if words of source and target can be joined by the group's weights, which takes all."""
    return (group.stack, group.kind) == ("decoder", "cross") and not group.kept


def head_data(shown: PageContext, view: HeadView, place: HeadId) -> SentView | None:
    """Steps or Masks of a head, as they are sent; None if only weights of its layer are known.

    Raises `BadInput` for a head that the group does not have.
    """
    require_heads((shown.group,), (place,))
    if shown.group.own_code(place.layer):
        return None
    if view == "masks":
        hidden = mask_views.masks_data(shown, place.layer, place.head)
        return sent(masks.CANVAS, hidden, shown.lang)
    return _steps(shown, place)


def chosen_heads(group: Group, named: Sequence[HeadId] | None) -> tuple[HeadId, ...]:
    """The named heads that a group has; the first one that was kept where none was named."""
    kept = group.heads
    return kept[:1] if named is None else tuple(place for place in named if place in kept)


def require_heads(among: Sequence[Group], named: Sequence[HeadId] | None) -> None:
    """`BadInput` for a named head that no group of the capture has, or that was not kept."""
    kept = dict.fromkeys(place for group in among for place in group.heads)
    for place in named or ():
        if place in kept:
            continue
        if any(
            0 <= place.layer < group.n_layers and 0 <= place.head < group.calls[place.layer].n_heads
            for group in among
        ):
            allowed = shortened(", ".join(map(str, kept)))
            reason = f"the capture keeps {allowed} alone (keep=)"
        else:
            sizes = [f"{g.n_layers} × {max(call.n_heads for call in g.calls)}" for g in among]
            allowed = ", ".join(sizes)
            reason = f"the capture has {allowed} layers × heads"
        raise bad_argument(
            f"heads= has {place}, and {reason}", name="heads", found=str(place), allowed=allowed
        )


def _steps(shown: PageContext, place: HeadId) -> SentView:
    """Every stage of a head, as the app sends it; nothing can be changed in a page."""
    group = shown.group
    derived = derive(group.call(place.layer), place.head, group.row(place.layer))
    data = step_views.steps(shown, place.layer, place.head, derived)
    return sent(steps.CANVAS, _without_wide(data, shown.lang), shown.lang)


def _without_wide(data: steps.StepsData, lang: Language) -> steps.StepsData:
    """The steps without what is changed by hand, and of a long text without the widest matrices."""
    data = replace(data, by_hand=steps.HandEdits(allowed=False))
    if len(data.tokens.queries.labels) <= WIDE_UP_TO:
        return data
    left_out = {
        view.stage: text(lang, "file.left_out", limit=WIDE_UP_TO)
        for view in data.views
        if view.stage in WIDE
    }
    views = tuple(view for view in data.views if view.stage not in left_out)
    return replace(data, views=views, absent={**data.absent, **left_out})


def _alignment(shown: PageContext) -> SentView:
    """The words of source and target with the attention between them."""
    from attnviz.experiment.outputs.alignment import align

    aligned = align(shown.captured.loaded, shown.captured.capture)
    chances = aligned.probabilities
    view = alignment.AlignmentView(
        source=tuple(alignment.ShownWord(w.text, w.start, w.special) for w in aligned.source),
        target=tuple(
            alignment.ShownWord(
                word.text,
                word.start,
                word.special,
                None if chances is None else float(chances[index]),
            )
            for index, word in enumerate(aligned.target)
        ),
        weights=aligned.weights,
        stated=alignment.Stated(),
        probability=aligned.probability,
    )
    return sent(alignment.CANVAS, view, shown.lang)
