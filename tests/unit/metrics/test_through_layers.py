"""Rollout and flow: by hand, and the largest flow against every cut there is."""

import itertools

import numpy as np
import pytest

from attnviz.errors import BadInput
from attnviz.metrics.through_layers import flow, rolled_out, with_residual


def drawn(n: int, depth: int, seed: int = 5) -> list[np.ndarray]:
    """Causal weights whose rows sum to 1."""
    raw = np.random.default_rng(seed).random((depth, n, n)) * np.tri(n)
    return [layer / layer.sum(1, keepdims=True) for layer in raw]


def smallest_cut(layers: list[np.ndarray], query: int, token: int) -> float:
    """The least capacity over all sets of nodes that hold the query and not the token."""
    n, depth = len(layers[0]), len(layers)
    nodes = list(itertools.product(range(depth + 1), range(n)))
    ends = {(depth, query), (0, token)}
    free = [node for node in nodes if node not in ends]
    least = np.inf
    for held in itertools.product((False, True), repeat=len(free)):
        near = {(depth, query)} | {node for node, inside in zip(free, held, strict=True) if inside}
        least = min(
            least,
            sum(
                layers[level - 1][place, below]
                for level, place in near
                if level > 0
                for below in range(n)
                if (level - 1, below) not in near
            ),
        )
    return float(least)


def test_rollout_of_two_layers_by_hand() -> None:
    """Rows (1, 0), (½, ½) with the residual are (1, 0), (¼, ¾); twice: ¼ + ¾·¼ and ¾·¾."""
    layer = with_residual(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert layer.tolist() == [[1.0, 0.0], [0.25, 0.75]]
    assert rolled_out([layer, layer]).tolist() == [[1.0, 0.0], [0.4375, 0.5625]]


def test_flow_of_two_layers_by_hand() -> None:
    """To token 0: ¼ through each of both nodes; to token 1 only ¾ down its own column."""
    layer = np.array([[1.0, 0.0], [0.25, 0.75]])
    assert flow([layer, layer], 1).tolist() == [0.5, 0.75]
    assert flow([layer, layer], 0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("query", [0, 1, 2])
def test_the_largest_flow_is_the_smallest_cut(query: int) -> None:
    layers = drawn(3, 3)
    cuts = [smallest_cut(layers, query, token) for token in range(3)]
    assert flow(layers, query) == pytest.approx(cuts, abs=1e-9)


def test_a_flow_that_has_to_be_led_back_is_found() -> None:
    """The first paths down fill an edge that the largest flow needs for another: .1 without."""
    layers = [
        np.array([[0.3, 0.1, 0.3], [0.3, 0.0, 0.4], [0.0, 0.1, 0.4]]),
        np.array([[0.0, 0.3, 0.0], [0.0, 0.0, 0.1], [0.1, 0.3, 0.4]]),
        np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.2, 0.3, 0.1]]),
    ]
    assert flow(layers, 2) == pytest.approx([0.3, 0.2, 0.4])
    assert flow(layers, 2)[1] == pytest.approx(smallest_cut(layers, 2, 1))


def test_a_query_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match="query 3 does not exist"):
        flow(drawn(3, 2), 3)
