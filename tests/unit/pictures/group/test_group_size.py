"""`GroupSize`: what a group's shapes add up to, and the limits that they are held to."""

import pytest

from attnviz.errors import TooLarge, UnsupportedAttention
from attnviz.pictures.group import groups
from attnviz.pictures.group.groups import GroupSize
from attnviz.pictures.shared.selection import Extent

EVEN = GroupSize(((5, 7, 11),) * 3, uneven=False)
UNEVEN = GroupSize(((5, 7, 11), (2, 13, 3)), uneven=True)


def test_an_even_group_has_one_number_of_heads() -> None:
    assert EVEN.extent == Extent(3, 5, 7, 11)
    assert (EVEN.n_heads, EVEN.n_cells, EVEN.n_longest) == (15, 3 * 5 * 7 * 11, 11)
    assert EVEN.nearest_head(2, 99) == (2, 99)  # refused later, by name


def test_an_uneven_group_lists_its_heads_by_layer() -> None:
    assert UNEVEN.extent == Extent(2, 5, 13, 11, (5, 2))
    assert (UNEVEN.n_heads, UNEVEN.n_cells) == (7, 5 * 7 * 11 + 2 * 13 * 3)
    assert UNEVEN.nearest_head(0, 4) == (0, 4)
    assert UNEVEN.nearest_head(1, 4) == (1, 1)
    assert UNEVEN.nearest_head(7, 4) == (7, 4)


def test_heads_that_were_not_kept_take_no_room() -> None:
    some = GroupSize(EVEN.shapes, uneven=False, kept=((), (0, 4), (3,)))
    assert (some.n_heads, some.n_cells, some.n_cells_of(1)) == (3, 3 * 7 * 11, 2 * 7 * 11)
    assert some.extent == Extent(3, 5, 7, 11, kept=some.kept)


def test_a_group_is_shown_at_once_pooled_or_one_head_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert EVEN.all_at_once and not EVEN.pooled
    monkeypatch.setattr(groups, "MAX_CELLS", EVEN.n_cells - 1)
    assert EVEN.whole and EVEN.pooled and not EVEN.all_at_once
    monkeypatch.setattr(groups, "MAX_POOLED_CELLS", EVEN.n_cells - 1)
    assert EVEN.whole and not EVEN.pooled and not EVEN.all_at_once
    monkeypatch.setattr(groups, "MAX_WHOLE", 10)
    assert not EVEN.whole


def test_what_differs_between_layers_is_never_pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MAX_CELLS", 1)
    assert not UNEVEN.pooled


def test_limits_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    EVEN.require_cells()
    EVEN.require_even()
    monkeypatch.setattr(groups, "MAX_CELLS", EVEN.n_cells - 1)
    with pytest.raises(TooLarge) as too_many:
        EVEN.require_cells()
    assert too_many.value.code == "too_many_weights"
    assert (too_many.value.found, too_many.value.limit) == (EVEN.n_cells, EVEN.n_cells - 1)
    with pytest.raises(UnsupportedAttention, match=r"\(2, 13, 3\), \(5, 7, 11\)") as uneven:
        UNEVEN.require_even()
    assert uneven.value.code == "uneven_layers"
