"""How many bytes calls will occupy where they are kept."""

import torch

from attnviz.capture.storage import Storage


def test_a_memory_counts_once_whole_and_in_the_type_it_is_kept_in() -> None:
    numbers = torch.ones(13)
    tensors = [numbers[:5], numbers[2:], torch.ones(7, dtype=torch.bool)]
    assert Storage().nbytes(tensors) == 13 * 4 + 7
    assert Storage("float16").nbytes(tensors) == 13 * 2 + 7
