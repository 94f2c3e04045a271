"""The weights of a capture that are written as numbers, call by call.

In: a capture and what was asked for: one head, one kind or stack, a text of the batch. Out: an
`Entry` for each matrix of heads, with the labels of its queries and keys. Weights are derived when
they are written, one call at a time.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32

from attnviz.attention import axis_tokens
from attnviz.attention.call import AttentionCall
from attnviz.attention.capture import Capture
from attnviz.errors import TooLarge, bad_kind, require_index
from attnviz.tokens.labels import without_surrogates
from attnviz.types import Head, Kind, Stack, Tokens, head_id


@dataclass(frozen=True, eq=False)
class Entry:
    """One row of a call's batch: a text, or one window of a picture.

    `index` counts the calls of a layer that attends several times. `heads` are all heads that are
    kept, or the one that was asked for.
    """

    call: AttentionCall
    index: int
    row: int
    window: int | None
    heads: Sequence[int]
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of weights in the entry."""
        return len(self.heads) * len(self.queries) * len(self.keys)

    def weights(self) -> Float32[np.ndarray, "head query key"]:
        """The weights of its heads."""
        return np.stack([self.head(number) for number in self.heads])

    def head(self, number: int) -> Float32[np.ndarray, "query key"]:
        """The weights of one head."""
        weights: np.ndarray = self.call.weights(number, self.row).cpu().numpy()
        return weights


def entries(
    cap: Capture,
    head: Head | None = None,
    kind: Kind | None = None,
    stack: Stack | None = None,
    batch: int = 0,
) -> tuple[Entry, ...]:
    """The entries of a capture to write: every head, or the selected ones.

    Raises `BadInput` for a head, kind, stack or text that the capture does not have.
    """
    require_index("batch", batch, cap.n_batch)
    calls = _calls(cap, kind, stack)
    if head is None:
        return tuple(
            entry
            for call, index in calls
            for entry in _rows(cap, call, index, call.kept_heads, batch)
        )
    place = head_id(head)
    call = cap.call(place.layer, *_kind_of(calls, kind, stack))
    call.check(place.head, batch)
    return _rows(cap, call, 0, [place.head], batch)


def _calls(cap: Capture, kind: Kind | None, stack: Stack | None) -> list[tuple[AttentionCall, int]]:
    """The calls of a kind and stack, each with its number among those of its layer."""
    numbers: defaultdict[object, int] = defaultdict(int)
    calls = []
    for call in cap.calls:
        if kind in (None, call.kind) and stack in (None, call.stack):
            place = (call.stack, call.kind, call.layer)
            calls.append((call, numbers[place]))
            numbers[place] += 1
    if not calls:
        raise bad_kind(kind, stack, ((call.kind, call.stack) for call in cap.calls))
    return calls


def _kind_of(
    calls: list[tuple[AttentionCall, int]], kind: Kind | None, stack: Stack | None
) -> tuple[Kind, Stack | None]:
    """The kind and stack that a head is looked for in: self-attention unless told otherwise."""
    kinds = {call.kind for call, _ in calls}
    return kind or ("self" if "self" in kinds else "cross"), stack


def _rows(
    cap: Capture, call: AttentionCall, index: int, heads: Sequence[int], batch: int
) -> tuple[Entry, ...]:
    """The rows of a call's batch that belong to one text: one, or a picture's windows."""
    n_window = 1 if call.windows is None else call.windows.count
    return tuple(
        Entry(
            call=call,
            index=index,
            row=row,
            window=None if call.windows is None else row % n_window,
            heads=heads,
            queries=_labels(cap.query_tokens(call, row), call.n_query),
            keys=_labels(cap.key_tokens(call, row), call.n_key),
        )
        for row in range(batch * n_window, (batch + 1) * n_window)
    )


def _labels(tokens: Tokens, count: int) -> tuple[str, ...]:
    """A label for each token, or its number where the capture does not name it."""
    return tuple(map(without_surrogates, axis_tokens.fitting(tokens, count).labels))


def require_few(written: Sequence[Entry], limit: int, advice: str) -> None:
    """Raise `TooLarge` for more weights than one file should have."""
    count = sum(entry.count for entry in written)
    if count > limit:
        raise too_many(count, limit, advice)


def too_many(count: int, limit: int, advice: str) -> TooLarge:
    """The error about a file that would be absurdly large."""
    return TooLarge(
        f"{count:,} weights are too many for this kind of file, which holds {limit:,}; {advice}",
        code="too_many_numbers",
        found=count,
        limit=limit,
        unit="weights",
    )
