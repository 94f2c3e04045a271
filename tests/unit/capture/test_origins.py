"""`Origins`: what is known of a memory ends with the tensor that it belonged to."""

import numpy as np
import torch

from attnviz.capture.record.origins import Origins


def test_a_tensor_in_the_memory_of_another_has_nothing_of_it() -> None:
    origins = Origins(())
    memory = np.zeros((3, 5), np.float32)  # outlives the tensors that lie in it
    first = torch.from_numpy(memory)
    origins.replace(first, frozenset({7}), columns=-1)
    view = first[1:]
    assert origins.of(view) == {7}
    assert origins.is_of_columns(view, 1)
    address = first.data_ptr()
    del first, view
    other = torch.from_numpy(memory)
    assert other.data_ptr() == address
    assert not origins.of(other)
    assert not origins.is_of_columns(other, 1)


def test_a_parameter_stays_one() -> None:
    weight = torch.zeros(3, 5)
    origins = Origins([weight])
    assert origins.is_parameter(weight) and origins.is_parameter(weight.t())
