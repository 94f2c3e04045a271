"""Figures for print of a capture: the weights and tokens that each view draws.

In: a capture, or two to compare, and a view. Out: a `Drawing`. `heads` draws all heads of one
attention, `head`, `lines` and `alignment` one head, `steps` every stage of one head, `picture` the
attention over the patches of a picture, `compare` the same head of two captures with their
difference.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from numpy.typing import ArrayLike

from attnviz import figures
from attnviz.attention import axis_tokens
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.attention.steps import derive
from attnviz.compare import Pairing, Slot, on_axes, pair
from attnviz.errors import TooLarge, bad_argument, require_index
from attnviz.figures import Drawing
from attnviz.figures.style import Style
from attnviz.tokens.words import merged
from attnviz.types import Head, Kind, Stack, Tokens, head_id

View = Literal["heads", "head", "lines", "steps", "alignment", "picture", "compare"]
VIEWS: tuple[View, ...] = get_args(View)
OF_ONE: tuple[View, ...] = VIEWS[:-1]
MAX_TOKENS = 2048  # along a side of one matrix
MAX_WEIGHTS = 2**27  # of all heads, that are walked through for their small pictures


class Place(NamedTuple):
    """The head that is drawn (None: all, or the first), its kind and stack, and a text."""

    head: Head | None = None
    kind: Kind | None = None
    stack: Stack | None = None
    batch: int = 0


class Seen(NamedTuple):
    """The pixels that a vision model read, and the token whose row is drawn (None: [CLS])."""

    picture: ArrayLike | None = None
    query: int | None = None


NOTHING_SEEN = Seen()


def drawing(
    what: Capture | tuple[Capture, Capture],
    view: str | None,
    place: Place,
    style: Style,
    heads: Sequence[Head] | str | None = None,
    seen: Seen = NOTHING_SEEN,
) -> Drawing:
    """The figure of one view; "heads" unless a head or two captures are given.

    Several `heads` of one capture are drawn side by side.

    Raises `BadInput` for a view, head, kind, stack or text that does not exist, and `TooLarge` for
    more tokens than a figure can show.
    """
    if (seen.picture is not None or seen.query is not None) and view != "picture":
        raise bad_argument(
            f"picture= and query= belong to the view picture, and view is {view!r}",
            name="view",
            found=repr(view),
            allowed="picture",
        )
    if isinstance(what, tuple):
        _require_view(view, ("compare",), "two captures")
        return _compare(*what, place, style)
    if heads is not None:
        _require_view(view, ("head",), "several heads")
        return _panels(what, heads, place, style)
    _require_view(view, OF_ONE, "one capture")
    chosen = view or ("heads" if place.head is None else "head")
    if chosen == "heads":
        return _heads(what, place, style)
    call, head, row = _place(what, place)
    tokens = _tokens(what, call, row)
    if chosen == "steps":
        return figures.steps(derive(call, head, row).views(), *tokens, **style)
    weights = call.weights(head, row).cpu().numpy()
    if chosen == "picture":
        return _patches(what, call, (head, row), seen, style)
    if chosen == "lines":
        return figures.lines(weights, *tokens, **style)
    if chosen == "alignment":
        return figures.alignment(weights, *tokens, **style)
    return figures.head(weights, *tokens, **style)


def _require_view(view: str | None, allowed: tuple[View, ...], what: str) -> None:
    if view is not None and view not in allowed:
        raise bad_argument(
            f"view is {view!r}; of {what} give one of {', '.join(allowed)}",
            name="view",
            found=repr(view),
            allowed=", ".join(allowed),
        )


def _heads(cap: Capture, place: Place, style: Style) -> Drawing:
    """All heads of one kind and stack, the first unless told otherwise."""
    if place.head is not None:
        raise bad_argument(
            "the view heads shows all heads, and head= names one; leave one of them out",
            name="head",
            found=str(place.head),
            allowed="None",
        )
    cap.require_all_heads()
    kind = place.kind or cap.calls[0].kind
    stack = place.stack or next(call.stack for call in cap.calls if call.kind == kind)
    calls = [
        call
        for call in cap.calls
        if (call.kind, call.stack, call.index) == (kind, stack, cap.calls[0].index)
    ]
    count = sum(call.n_heads * call.n_query * call.n_key for call in calls)
    _require_few(count, MAX_WEIGHTS, "weights of all heads", "name one with head=")
    rows = [place.batch * _n_windows(call) for call in calls]
    weights = [call.weights(None, row).cpu().numpy() for call, row in zip(calls, rows, strict=True)]
    return figures.heads(weights, **style)


def _panels(cap: Capture, heads: Sequence[Head] | str, place: Place, style: Style) -> Drawing:
    """Several heads on the same tokens, by name."""
    if isinstance(heads, str) or not heads or place.head is not None:
        raise bad_argument(
            f'heads={heads!r} of a figure: give a list such as ["L2.H1", "L3.H0"], without head=',
            name="heads",
            found=repr(heads),
            allowed="a list of heads",
        )
    chosen = [_place(cap, place._replace(head=head)) for head in heads]
    weights = [call.weights(head, row).cpu().numpy() for call, head, row in chosen]
    tokens = _tokens(cap, chosen[0][0], chosen[0][2])
    names = [str(head_id(head)) for head in heads]
    return figures.panels(weights, *tokens, names=names, **style)


def _place(cap: Capture, place: Place) -> tuple[AttentionCall, int, int]:
    """The call, head and row of its batch that a place names: L0.H0 unless told otherwise."""
    head = head_id(place.head if place.head is not None else (0, 0))
    call = cap.call(head.layer, place.kind or cap.calls[0].kind, place.stack)
    row = place.batch * _n_windows(call)
    call.check(head.head, row)
    longest = max(call.n_query, call.n_key)
    _require_few(longest, MAX_TOKENS, "tokens", "save them as .npz, or capture a part of the text")
    return call, head.head, row


def _patches(
    cap: Capture, call: AttentionCall, place: tuple[int, int], seen: Seen, style: Style
) -> Drawing:
    """One row of a head over the patches: that of the query, of [CLS], or the mean of all rows."""
    grid, (head, row) = cap.grid, place
    n_patch = 0 if grid is None else grid[0] * grid[1]
    if grid is None or call.windows is not None or not 0 < n_patch <= call.n_key:
        raise bad_argument(
            "this attention is not one of a picture whose patches are its tokens; give view='head'",
            name="view",
            found="'picture'",
            allowed=", ".join(OF_ONE[:-1]),
        )
    if seen.picture is None:
        raise bad_argument(
            "a capture keeps no pixels: give picture=, what the model saw, [row, column, rgb]",
            name="picture",
            found="None",
            allowed="an array",
        )
    weights = call.weights(head, row).cpu().numpy()
    tokens, first = _tokens(cap, call, row)[0], call.n_key - n_patch
    if seen.query is not None:
        at = require_index("position", seen.query, call.n_query)
        chosen, name = weights[at], tokens.labels[at]
    elif tokens.special[0]:
        chosen, name = weights[0], tokens.labels[0]
    else:
        chosen, name = weights.mean(0), "mean"
    patches = chosen[first:].reshape(grid)
    said = f"L{call.layer}.H{head}, {name}: {patches.sum():.0%} on the patches"
    return figures.picture(seen.picture, patches, name=said, **style)


def _n_windows(call: AttentionCall) -> int:
    """The rows of the batch that one picture has; its first window is drawn."""
    return 1 if call.windows is None else call.windows.count


def _require_few(count: int, limit: int, unit: str, advice: str) -> None:
    if count > limit:
        raise TooLarge(
            f"{count:,} {unit} are more than a figure shows, which is {limit:,}; {advice}",
            code="too_many_numbers",
            found=count,
            limit=limit,
            unit=unit,
        )


def _tokens(cap: Capture, call: AttentionCall, row: int) -> tuple[Tokens, Tokens]:
    """The tokens along both axes, numbers where the capture does not name them."""
    return (
        axis_tokens.fitting(cap.query_tokens(call, row), call.n_query),
        axis_tokens.fitting(cap.key_tokens(call, row), call.n_key),
    )


# --- two captures ------------------------------------------------------------------------------


def _compare(first: Capture, second: Capture, place: Place, style: Style) -> Drawing:
    """One head of both on the tokens that they have in common, and those that one of them has."""
    sides = []
    for cap in (first, second):
        call, head, row = _place(cap, place)
        sides.append((call.weights(head, row).cpu().numpy(), *_tokens(cap, call, row)))
    (weights_a, queries_a, keys_a), (weights_b, queries_b, keys_b) = sides
    same = first.model.id == second.model.id
    queries, keys = pair(queries_a, queries_b, same), pair(keys_a, keys_b, same)
    a = on_axes(merged(weights_a, queries.a, keys.a), queries.slots, keys.slots, "a")
    b = on_axes(merged(weights_b, queries.b, keys.b), queries.slots, keys.slots, "b")
    names = ("A", "B") if same else (first.model.id, second.model.id)
    labels = [[_label(axis, slot) for slot in axis.slots] for axis in (queries, keys)]
    return figures.compare(a, b, *labels, names=names, **style)


def _label(axis: Pairing, slot: Slot) -> str:
    """The label of a place of the common axis; both where the sides have different tokens."""
    parts = (None if slot.a is None else axis.a[slot.a], None if slot.b is None else axis.b[slot.b])
    return " | ".join(dict.fromkeys(part.label for part in parts if part is not None))
