"""`read` refuses by name every file that is not what it must be, whatever was changed in it.

A file that is changed at random is either refused with `BadInput`, or is still a capture: then
everything that is derived from it works, too. A raw error of another library is a failure.
"""

import copy
import json
import random
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from jaxtyping import TypeCheckError
from safetensors.torch import load
from safetensors.torch import save as serialised

import attnviz
from attnviz.app.server import opened_captures
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.errors import AttnVizError, BadInput, TooLarge
from attnviz.files.capture_file.calls import MAX_LAYERS
from attnviz.files.capture_file.read import read
from attnviz.files.capture_file.write import ENTRY
from attnviz.files.save import content
from tests.support import captures

KINDS = {
    name: content(cap, ".safetensors", with_weights=True, with_outputs=True)
    for name, cap in (captures.every_kind() | captures.of_heads()).items()
}
HOSTILE: tuple[object, ...] = (
    None, True, -1, 0, 1, 3, 7, 10**9, 2**62, 10**400, 1.5, 1e308, "", "x", "encoder", "\ud83d",
    "</script>", [], [0], [1, 2], [[]], {}, {"x": 1},
)  # fmt: skip
Path_ = tuple[str | int, ...]


def description_of(data: bytes) -> Any:
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(json.loads(data[8 : 8 + length])["__metadata__"][ENTRY])


def described(data: bytes, description: object) -> bytes:
    """The file with another description."""
    return serialised(load(data), metadata={ENTRY: json.dumps(description)})


def places(value: Any, place: Path_ = ()) -> Iterator[Path_]:
    """Where every value of some JSON stands."""
    if place:
        yield place
    entries: Any = ()
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in entries:
        yield from places(inner, (*place, name))


def changed(description: Any, place: Path_, value: object) -> Any:
    """The JSON with another value in one place; the value `...` takes the entry away."""
    result = copy.deepcopy(description)
    holder = result
    for name in place[:-1]:
        holder = holder[name]
    if value is ...:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return result


def use(cap: Capture) -> None:
    """Everything that is derived from a capture; only errors of the library may come of it."""
    cap.verify()
    for call in cap.calls:
        assert cap.call(call.layer, call.kind, call.stack).kind == call.kind
        for row in range(min(call.n_batch, 2)):
            with suppress(AttnVizError):
                assert cap.query_tokens(call, row) and cap.key_tokens(call, row)
            assert call.weights(call.kept_heads[0], row).shape == (call.n_query, call.n_key)
            if isinstance(call.inputs, AttentionInputs):
                assert attnviz.derive(call, call.kept_heads[-1], row).views()


def read_and_use(data: bytes) -> None:
    """Read a file that may be damaged."""
    try:
        cap = read(data)
    except AttnVizError as error:
        assert str(error) and error.code in ("bad_capture_file", "capture_file_too_large")
        return
    use(cap)


@pytest.mark.parametrize("n_mutations", [12, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_any_value_may_stand_anywhere(kind: str, n_mutations: int) -> None:
    data, chance = KINDS[kind], random.Random(kind)
    description = description_of(data)
    everywhere = list(places(description))
    for _ in range(n_mutations):
        place, value = chance.choice(everywhere), chance.choice((*HOSTILE, ..., ...))
        read_and_use(described(data, changed(description, place, value)))


def test_the_use_of_a_damaged_capture_can_fail() -> None:
    """What is checked here would be seen: a raw error comes through."""
    cap = copy.deepcopy(captures.every_kind()["projections"])
    object.__setattr__(cap.calls[0].projections["q"], "starts", (10**6,) * 6)
    with pytest.raises((RuntimeError, TypeCheckError)):  # the tests check the shapes, too
        use(cap)


def test_every_entry_is_needed_and_no_other_is_known() -> None:
    data = KINDS["projections"]
    description = description_of(data)
    records = [
        place for place in places(description) if not any(isinstance(of, int) for of in place)
    ]
    assert len(records) > 20
    for place in records:
        if place[0] in ("tensors", "made_with"):
            continue
        with pytest.raises(BadInput):
            read(described(data, changed(description, place, ...)))
    for place in ((), ("calls", 0), ("calls", 0, "inputs"), ("model",), ("tokens", 0, "rows", 0)):
        with pytest.raises(BadInput, match="unknown entry 'newer'"):
            read(described(data, changed(description, (*place, "newer"), 1)))


SHAPE, STRIDE = [2, 6, 7, 10], [420, 10, 60, 1]
STARTS: Path_ = ("calls", 0, "projections", "q", "starts")
QUERY: Path_ = ("tensors", "calls.0.query")
NAMED: tuple[tuple[Path_, object, str], ...] = (
    (("calls", 0, "inputs", "scaling"), "a lot", r"scaling is 'a lot'; it must be a number"),
    (("calls", 0, "kind"), "selfish", r"calls\[0\].kind is 'selfish'; it must be one of self"),
    (("calls", 0, "layer"), 10**6, "whole number from 0 to 9999"),
    (("calls",), [], "it has no calls"),
    (("calls", 0, "row_step"), 8, "whole number from 1 to 7"),
    (STARTS, [0] * 5, r"projection q \(proj_q\) does not fit"),
    (STARTS, [0, 10, 20, 30, 40, 51], "does not fit its heads"),
    (QUERY, ["s0", 0, SHAPE, [0, 0, 0, 0]], "more numbers than its memory"),
    (QUERY, ["s0", 10**9, SHAPE, STRIDE], "ends at element"),
    (QUERY, ["s0", -1, SHAPE, STRIDE], "whole number from 0"),
    (QUERY, ["s99", 0, [1], [1]], "it has no array 's99'"),
    ((*QUERY, 2), [2, 6, 7, 9], "do not fit one another"),
    (("tokens", 0, "rows", 0, "padding"), [0], "padding has 1 entries; it must have 7"),
    (("tokens", 0, "rows", 0, "ends", 0), -1, "whole number from 0"),
    (("tokens", 0, "rows", 0, "text"), "\ud83d", "without lone surrogates"),
    (("n_generated",), 8, "whole number from 0 to 7"),
    (("version",), 2, "version 2 and this attnviz reads version 1"),
    (("format",), "other", "not a capture of attnviz"),
)


@pytest.mark.parametrize(("place", "value", "message"), NAMED)
def test_the_message_names_the_place(place: Path_, value: object, message: str) -> None:
    data = KINDS["projections"]
    with pytest.raises(BadInput, match=message):
        read(described(data, changed(description_of(data), place, value)))


HEADS: Path_ = ("calls", 0, "inputs", "heads")
BAD_HEADS: tuple[tuple[object, str], ...] = (
    ([[], 6, 3], "heads that no layer has"),
    ([[4, 1], 6, 3], "heads that no layer has"),
    ([[1, 1], 6, 3], "heads that no layer has"),
    ([[1, 4], 6, 4], "heads that no layer has"),
    ([[1, 6], 6, 3], "whole number from 0 to 5"),
    ([[1, 4], 6, 7], "whole number from 1 to 6"),
    ([[1, 4], 6], "has 2 entries; it must have 3"),
    ([[0, 1], 6, 3], "do not fit one another"),
    ([[1, 4, 5], 6, 3], "do not fit one another"),
    ([[1, 4], 6 * 2**16, 3 * 2**16], "whole number from 1 to 4096"),
    ([[1, 4], 10**9, 3], "whole number from 1 to"),
    ([[1, 4], 8, 4], "does not fit its heads"),
)


@pytest.mark.some(4)
@pytest.mark.parametrize(("value", "message"), BAD_HEADS)
def test_heads_that_do_not_fit_are_refused(value: object, message: str) -> None:
    data = KINDS["heads, projections"]
    with pytest.raises(BadInput, match=message):
        read(described(data, changed(description_of(data), HEADS, value)))


def test_layers_that_were_not_kept_have_a_price_where_pictures_are_shown() -> None:
    """Each has its place there: 15,000 of them in 20 kB would take minutes."""
    data = KINDS["heads, projections"]
    place: Path_ = ("calls", 0, "layer")
    opened_captures.open_upload(described(data, changed(description_of(data), place, 3)), "a")
    with pytest.raises(TooLarge, match="multiplications"):
        opened_captures.open_upload(
            described(data, changed(description_of(data), place, MAX_LAYERS - 1)), "b"
        )


def test_tokens_that_are_fewer_than_the_queries_are_refused() -> None:
    data = KINDS["grouped"]
    description = description_of(data)
    for row in description["tokens"][0]["rows"]:
        for name, value in row.items():
            row[name] = value[:5]
    with pytest.raises(BadInput, match="7 queries and 7 keys have other tokens"):
        read(described(data, description))


def test_arrays_of_another_type_or_size_are_refused() -> None:
    data = KINDS["bias"]
    arrays, metadata = load(data), {ENTRY: json.dumps(description_of(data))}
    for name in arrays:
        rest = {other: array for other, array in arrays.items() if other != name}
        for array in (
            torch.zeros(3),
            torch.zeros(0),
            torch.zeros(len(arrays[name]), dtype=torch.int64),
            torch.zeros(len(arrays[name]), dtype=torch.float8_e4m3fn),
            torch.zeros(1, len(arrays[name])),
        ):
            read_and_use(serialised(rest | {name: array}, metadata=metadata))
        with pytest.raises(BadInput, match=f"it has no array '{name}'"):
            read(serialised(rest, metadata=metadata))


def test_a_file_that_is_cut_short_is_refused() -> None:
    data = KINDS["windows"]
    chance = random.Random(1)
    for length in (0, 1, 7, 8, 9, 100, *(chance.randrange(len(data)) for _ in range(20))):
        with pytest.raises(BadInput):
            read(data[:length])


def test_single_bytes_may_be_anything() -> None:
    data = KINDS["places"]
    (length,), chance = struct.unpack("<Q", data[:8]), random.Random(2)
    for _ in range(200):
        spoiled = bytearray(data)
        spoiled[chance.randrange(8 + length)] = chance.randrange(256)
        read_and_use(bytes(spoiled))


def header(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


NO_CAPTURES = {
    "nothing": b"",
    "text": b"just a text that somebody called .safetensors",
    "a giant header": struct.pack("<Q", 2**40) + b"{}",
    "a header that is not UTF-8": header(b'{"\xff": 1}'),
    "deep nesting": header(b"[" * 100_000),
    "deep nesting inside": header(json.dumps({"__metadata__": {ENTRY: "[" * 100_000}}).encode()),
    "a list": header(b"[1, 2]"),
    "a number of many digits": header(b"1" * 5000),
    "metadata of another program": header(b'{"__metadata__": {"format": "pt"}}'),
    "metadata that is no object": header(b'{"__metadata__": 3}'),
    "a description that is no JSON": header(json.dumps({"__metadata__": {ENTRY: "{"}}).encode()),
    "NaN": header(json.dumps({"__metadata__": {ENTRY: '{"format": NaN}'}}).encode()),
    "no arrays": header(json.dumps({"__metadata__": {ENTRY: "{}"}}).encode()),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_CAPTURES)
def test_what_is_no_capture_file_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(NO_CAPTURES[name])
    for source in (path, NO_CAPTURES[name]):
        with pytest.raises(BadInput, match="cannot be read as a capture") as raised:
            read(source)
        assert raised.value.code == "bad_capture_file"


def test_rows_that_overlap_cannot_become_many_numbers() -> None:
    """Steps of 1 in two dimensions use n + m numbers for n × m; only heads and texts may repeat."""
    kinds = {"grouped": ("query", "key", "value", "output"), "projections": ("q.weight", "q.input")}
    for kind, names in kinds.items():
        data = KINDS[kind]
        description = description_of(data)
        for name in names:
            array, offset, shape, stride = description["tensors"][f"calls.0.{name}"]
            overlapping = [array, offset, shape, [*stride[:-2], 1, 1]]
            grown = changed(description, ("tensors", f"calls.0.{name}"), overlapping)
            with pytest.raises(BadInput, match="has more numbers than its memory"):
                read(described(data, grown))
    description = description_of(KINDS["grouped"])
    array, offset, shape, stride = description["tensors"]["calls.0.key"]
    shared = changed(
        description, ("tensors", "calls.0.key"), [array, offset, shape, [0, 0, *stride[2:]]]
    )
    assert read(described(KINDS["grouped"], shared)).calls


def test_few_bytes_cannot_become_many_numbers() -> None:
    """A stride of 0 repeats memory; for tokens that is refused, a billion of them fit no memory."""
    data = KINDS["grouped"]
    description = description_of(data)
    for name in ("query", "key", "value", "output"):
        view = description["tensors"][f"calls.0.{name}"]
        grown = [view[0], 0, [2, view[2][1], 2**30, 10], [0, 0, 0, 1]]
        with pytest.raises(BadInput):
            read(described(data, changed(description, ("tensors", f"calls.0.{name}"), grown)))
