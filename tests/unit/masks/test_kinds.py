"""Masks are boolean, True = may attend; the border to additive masks; who blocks which cell."""

import pytest
import torch

from attnviz import masks
from attnviz.errors import BadMask


def test_causal_lets_a_query_see_itself_and_what_came_before() -> None:
    assert masks.causal(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
    assert masks.causal(2, 3).tolist() == [[True, False, False], [True, True, False]]


def test_padding_blocks_the_same_keys_for_every_query() -> None:
    keep = torch.tensor([True, True, False])
    assert masks.padding(keep, 2).tolist() == [[True, True, False], [True, True, False]]


def test_combine_is_open_only_where_all_are() -> None:
    both = masks.combine(masks.causal(2), masks.padding(torch.tensor([False, True]), 2))
    assert both.tolist() == [[False, False], [False, True]]


def test_blockers_name_every_mask_that_blocks_a_cell() -> None:
    named = {"padding": masks.padding(torch.tensor([True, False]), 2), "causal": masks.causal(2)}
    assert masks.blockers(named).tolist() == [[0, 0b11], [0, 0b01]]


def test_additive_mask_becomes_boolean_at_the_border() -> None:
    lowest = torch.finfo(torch.float32).min
    may_attend, bias = masks.from_model(torch.tensor([[[[0.0, lowest, -torch.inf]]]]))
    assert may_attend is not None
    assert may_attend.flatten().tolist() == [True, False, False]
    assert bias is None


def test_what_an_additive_mask_adds_to_open_cells_is_kept_as_bias() -> None:
    lowest = torch.finfo(torch.float16).min
    mask = torch.tensor([[[[0.5, lowest, 0.0]]]], dtype=torch.float16)
    may_attend, bias = masks.from_model(mask)
    assert may_attend is not None and bias is not None
    assert may_attend.flatten().tolist() == [True, False, True]
    assert bias.flatten().tolist() == [0.5, 0.0, 0.0]


def test_boolean_and_missing_masks_pass_through() -> None:
    mask = torch.tensor([[[[True, False]]]])
    assert masks.from_model(mask) == (mask, None)
    assert masks.from_model(None) == (None, None)


def test_masks_that_do_not_fit_are_refused_with_their_shapes() -> None:
    with pytest.raises(BadMask, match=r"\(2, 2\).*\(3, 3\)"):
        masks.combine(masks.causal(2), masks.causal(3))
    with pytest.raises(BadMask, match="at least one"):
        masks.combine()
    with pytest.raises(BadMask, match="9 masks"):
        masks.blockers({str(number): masks.causal(2) for number in range(9)})
