"""Roles over texts: what holds against both baselines and intervals."""

from dataclasses import replace

import numpy as np
import pytest

from attnviz.errors import BadInput
from attnviz.metrics import describe
from attnviz.metrics.measures import SHARES
from attnviz.metrics.over_texts import Interval, role_table, shuffled_words
from attnviz.types import HeadId, Tokens

N = 13
HEADS = (HeadId(0, 0), HeadId(0, 1), HeadId(1, 0), HeadId(1, 1))
PREVIOUS, SAME = SHARES.index("previous"), SHARES.index("same")


def tokens(ids: list[int]) -> Tokens:
    n = len(ids)
    return Tokens(
        text="",
        ids=np.array(ids, dtype=np.int64),
        pieces=("x",) * n,
        labels=("x",) * n,
        offsets=((0, 0),) * n,
        special=np.arange(n) == 0,
        padding=np.zeros(n, dtype=np.bool_),
    )


def around(mean: np.ndarray, half: float) -> Interval:
    return Interval(mean, mean - half, mean + half)


def test_a_role_holds_where_its_lower_end_beats_both_baselines() -> None:
    share = np.zeros((4, len(SHARES)))
    share[0, PREVIOUS], share[1, PREVIOUS] = 0.8, 0.8
    share[2, SAME], share[3, SAME] = 0.7, 0.7
    even = np.full(share.shape, 0.1)
    even[1, PREVIOUS] = 0.5  # short texts: even attention gives half
    other = np.full(share.shape, np.nan)
    other[2, SAME], other[3, SAME] = 0.1, 0.6  # the last looks at places, whatever stands there
    table = role_table(HEADS, around(share, 0.05), even, around(other, 0.02), np.ones(share.shape))
    assert [table.roles(head) for head in range(4)] == [("previous",), (), ("same",), ()]
    wide = role_table(HEADS, around(share, 0.6), even, around(other, 0.02), np.ones(share.shape))
    assert table.roles("L0.H1") == table.roles((0, 1)) == table.roles(1) == ()
    assert table.roles("L1.H0") == ("same",)
    with pytest.raises(BadInput, match=r"the table has no head L0\.H9"):
        table.roles("L0.H9")
    with pytest.raises(BadInput, match="0 to 3"):
        table.roles(4)
    assert repr(table) == "RoleTable of 4 heads: 2 with a role; print() lists them"
    assert [line.split()[:3] for line in str(table).splitlines()] == [
        ["head", "role", "share"],
        ["L0.H0", "previous", "0.80"],
        ["L1.H0", "same", "0.70"],
    ]
    assert not wide.holds.any(), "the interval reaches below the least share"
    rare = role_table(HEADS, around(share, 0.05), even, around(other, 0.02), np.zeros(share.shape))
    assert not rare.holds.any(), "hardly a text has the pattern"


def test_shuffled_words_have_the_same_words_in_other_places_and_are_drawn_by_the_text() -> None:
    text = tokens(list(range(N)))
    draws = list(shuffled_words(text))
    assert len({draw.ids.tobytes() for draw in draws}) == len(draws) > 1
    for draw in draws:
        assert sorted(draw.ids) == sorted(text.ids) and draw.ids[0] == text.ids[0]
    again = replace(
        text,
        ids=np.append(text.ids, 0),
        special=np.append(text.special, True),
        padding=np.append(text.padding, True),
    )
    padded = [draw.ids[:N].tobytes() for draw in shuffled_words(again)]
    assert padded == [draw.ids.tobytes() for draw in draws]


def test_describe_names_the_key_that_gets_most_where_no_pattern_holds() -> None:
    weights = np.full((N, N), 0.8 / (N - 1), dtype=np.float32)
    weights[:, 7] = 0.2
    [[role]] = describe(weights[None, None], tokens(list(range(N))))
    assert (role.role, role.key) == ("spread", 7)
    previous = 0.8 * np.eye(N, k=-1, dtype=np.float32)
    previous[:, 0] += 1 - previous.sum(1)
    [[held]] = describe(previous[None, None], tokens(list(range(N))))
    assert (held.role, held.key) == ("previous", None)
