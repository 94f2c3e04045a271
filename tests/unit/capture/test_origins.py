"""`Origins`: what is known of a memory ends with the tensor that it belonged to."""

import torch
from torch import Tensor

from attnviz.capture.record.origins import Origins

TRIES = 100


def tensor() -> Tensor:
    """One with pages of its own, which go back at once; they are not touched."""
    return torch.empty(1 << 12, 1 << 12)


def in_the_place_of(address: int) -> Tensor:
    """A new tensor at an address that was freed."""
    kept = []
    for _ in range(TRIES):
        kept.append(tensor())
        if kept[-1].data_ptr() == address:
            return kept[-1]
    raise AssertionError("no tensor came to lie there")


def known_and_freed(origins: Origins) -> int:
    """The address of a result of which something was known, through a view too."""
    first = tensor()
    origins.replace(first, frozenset({7}), columns=-1)
    view, address = first[1:], first.data_ptr()
    del first
    assert origins.of(view) == {7}
    assert origins.is_of_columns(view, 1)
    return address


def test_a_tensor_in_the_memory_of_another_has_nothing_of_it() -> None:
    origins = Origins(())
    other = in_the_place_of(known_and_freed(origins))
    assert not origins.of(other)
    assert not origins.is_of_columns(other, 1)


def test_a_parameter_stays_one() -> None:
    weight = torch.zeros(3, 5)
    origins = Origins([weight])
    assert origins.is_parameter(weight) and origins.is_parameter(weight.t())
