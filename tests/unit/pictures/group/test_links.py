"""`links`: each head's weight from a query to a key, beside what its other rows give that key."""

import numpy as np
import pytest

from attnviz.errors import BadInput
from attnviz.pictures.group.groups import Group, groups
from attnviz.pictures.group.ranking import links
from tests.support.captures import call, capture, qkv


def group_of(*, causal: bool) -> Group:
    return groups(capture(call(qkv(causal=causal))))[0]


def expected(
    weights: np.ndarray, query: int, key: int, rows: list[int]
) -> list[tuple[float, float]]:
    return [
        (float(of_head[query, key]), float(np.mean([of_head[row, key] for row in rows])))
        for of_head in weights
    ]


def test_links_compare_a_weight_with_the_other_rows_of_its_head() -> None:
    group = group_of(causal=False)
    weights = group.calls[0].weights(batch=0).cpu().numpy()
    found = links(group, 4, 2)
    wanted = expected(weights, 4, 2, [0, 1, 2, 3, 5, 6])
    for link in found:
        assert (link.share, link.control) == pytest.approx(wanted[link.head.head], abs=1e-6)
    differences = [link.difference for link in found]
    assert differences == sorted(differences, reverse=True) and len(found) == len(weights)


def test_links_leave_out_rows_that_may_not_attend_to_the_key() -> None:
    group = group_of(causal=True)
    weights = group.calls[0].weights(batch=0).cpu().numpy()
    wanted = expected(weights, 4, 2, [2, 3, 5, 6])
    for link in links(group, 4, 2):
        assert link.control == pytest.approx(wanted[link.head.head][1], abs=1e-6)


def test_links_of_a_blocked_cell_and_of_one_without_other_rows_are_none() -> None:
    group = group_of(causal=True)
    assert links(group, 2, 4) == ()
    assert links(group, 6, 6) == ()


def test_links_refuse_a_position_that_does_not_exist() -> None:
    with pytest.raises(BadInput) as raised:
        links(group_of(causal=False), 7, 0)
    assert raised.value.code == "bad_query"
