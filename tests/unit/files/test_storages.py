"""`pack` keeps each stretch of memory once, and `Unpacker` gives every tensor back."""

import json

import pytest
import torch
from torch import Tensor

from attnviz.files.capture_file.storages import Packed, Unpacker, pack
from attnviz.notation.json_fields import Malformed, parsed

BLOCK = torch.arange(2 * 3 * 5 * 7, dtype=torch.float32).reshape(2, 3, 5, 7)


def unpacked(packed: Packed) -> dict[str, Tensor]:
    views = parsed(json.dumps({name: view.as_json() for name, view in packed.views.items()}))
    unpacker = Unpacker(views, packed.arrays.__getitem__)
    return {name: unpacker.take(name) for name in unpacker.names}


def test_views_of_one_memory_are_one_array() -> None:
    tensors = {
        "whole": BLOCK,
        "turned": BLOCK.transpose(1, 2),
        "part": BLOCK[:, 1:, ..., 2:5],
        "repeated": BLOCK[:1].expand(4, 3, 5, 7),
    }
    packed = pack(tensors, {})
    assert len(packed.arrays) == 1 and packed.arrays["s0"].numel() == BLOCK.numel()
    for name, tensor in unpacked(packed).items():
        assert torch.equal(tensor, tensors[name]) and tensor.stride() == tensors[name].stride()
    packed.arrays["s0"].zero_()
    assert BLOCK[1, 1, 1, 1] != 0, "what is packed is a copy"


def test_parts_that_do_not_overlap_leave_the_rest_behind() -> None:
    """A view of a large buffer, a key cache for instance, does not bring the buffer along.

    Arrays begin at a multiple of 16 numbers, 64 bytes, of the buffer: at 0 and at 8,992.
    """
    buffer = torch.randn(10_000)
    tensors = {"first": buffer[5:11], "second": buffer[9_000:9_007], "sparse": buffer[20:8_000:100]}
    packed = pack(tensors, {})
    assert sorted(array.numel() for array in packed.arrays.values()) == [11, 15, 80]
    for name, tensor in unpacked(packed).items():
        assert torch.equal(tensor, tensors[name])


def test_types_are_converted_where_asked_for() -> None:
    tensors = {"narrow": BLOCK[0], "as it is": BLOCK[1], "yes": BLOCK > 3, "none": BLOCK[:0]}
    packed = pack(tensors, {"narrow": torch.float16})
    again = unpacked(packed)
    assert again["narrow"].dtype == torch.float16 and torch.equal(again["narrow"].float(), BLOCK[0])
    assert again["as it is"].dtype == torch.float32
    assert torch.equal(again["yes"], BLOCK > 3) and again["none"].shape == (0, 3, 5, 7)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (["a", 0, [7], [2]], "ends at element 13 of a, which has 12"),
        (["a", 12, [1], [1]], "ends at element 13"),
        (["a", 13, [0], [1]], "ends at element 13"),
        (["a", 0, [3, 4], [4]], "must have 2"),
        (["a", 0, [2], [-1]], "whole number from 0"),
        (["a", 0, [1] * 6, [1] * 6], "at most 5 dimensions"),
        (["b", 0, [1], [1]], "has 2 dimensions; it must have 1"),
        (["a", 0, [1]], "has 3 entries; it must have 4"),
        ("a", "must be a list"),
    ],
)
def test_a_view_outside_of_its_array_is_refused(view: object, message: str) -> None:
    arrays = {"a": torch.zeros(12), "b": torch.zeros(3, 4)}
    with pytest.raises(Malformed, match=message):
        Unpacker(parsed(json.dumps({"x": view})), arrays.__getitem__).take("x")
    with pytest.raises(Malformed, match="no tensor y"):
        Unpacker(parsed("{}"), arrays.__getitem__).take("y")
