"""The tokens that reach another through all layers, from weights alone: rollout and flow.

In: the mean weights of each layer, the first layer first. Out: shares of the tokens. With the
residual stream as half of each layer, A = ½·mean over heads of α + ½·I,

    rollout   A_L · … · A_1, rows sum to 1
    flow      the most that can go from a query down to a token, each edge carrying A at most

(Abnar & Zuidema 2020). Both know nothing of values, MLPs and norms, and say little of what an
answer rests on: `run.tokens()` has rollout beside the change where each token is hidden.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from attnviz.errors import require_index

Shares = Float64[np.ndarray, "query token"]
EMPTY = 1e-9  # what is left of an edge that is full


def with_residual(mean: Shares) -> Shares:
    """Half of the mean weights, half the residual."""
    return 0.5 * mean + 0.5 * np.eye(len(mean))


def rolled_out(layers: Sequence[Shares]) -> Shares:
    """The product of the layers' shares, the last layer's rows first."""
    out = np.eye(len(layers[0]))
    for shares in layers:
        out = shares @ out
    return out


def flow(layers: Sequence[Shares], query: int) -> Float64[np.ndarray, " token"]:
    """The largest flow from one query of the last layer to each token, through `layers`."""
    n, depth = len(layers[0]), len(layers)
    start = depth * n + require_index("query", query, n)
    free = _edges(layers, n)
    return np.array([_largest([edges.copy() for edges in free], start, end) for end in range(n)])


def _edges(layers: Sequence[Shares], n: int) -> list[dict[int, float]]:
    """The room of each node's edges; node l·n + t is token t below layer l."""
    free: list[dict[int, float]] = [{} for _ in range((len(layers) + 1) * n)]
    for layer, shares in enumerate(layers):
        for upper, lower in zip(*np.nonzero(shares > EMPTY), strict=True):
            above, below = (layer + 1) * n + int(upper), layer * n + int(lower)
            free[above][below] = float(shares[upper, lower])
            free[below][above] = 0.0
    return free


def _largest(free: list[dict[int, float]], start: int, end: int) -> float:
    """The largest flow between two nodes (Dinic 1970); what it takes is gone from `free`."""
    total = 0.0
    while (far := _distances(free, start, end)) is not None:
        ways = [
            [other for other in node if far[other] == far[at] + 1] for at, node in enumerate(free)
        ]
        while pushed := _push(free, ways, start, end):
            total += pushed
    return total


def _distances(free: list[dict[int, float]], start: int, end: int) -> list[int] | None:
    """The number of edges with room from `start` to each node; None if none leads to `end`."""
    far = [-1] * len(free)
    far[start], waiting = 0, deque([start])
    while waiting:
        at = waiting.popleft()
        for other, room in free[at].items():
            if room > EMPTY and far[other] < 0:
                far[other] = far[at] + 1
                waiting.append(other)
    return None if far[end] < 0 else far


def _push(free: list[dict[int, float]], ways: list[list[int]], start: int, end: int) -> float:
    """Fill one shortest path; returns what went through, 0 if there is none left."""
    path = [start]
    while path[-1] != end:
        at = path[-1]
        while ways[at] and free[at][ways[at][-1]] <= EMPTY:
            ways[at].pop()
        if ways[at]:
            path.append(ways[at][-1])
        elif len(path) == 1:
            return 0.0
        else:
            path.pop()
            ways[path[-1]].pop()
    edges = list(zip(path, path[1:], strict=False))
    least = min(free[at][other] for at, other in edges)
    for at, other in edges:
        free[at][other] -= least
        free[other][at] += least
    return least
