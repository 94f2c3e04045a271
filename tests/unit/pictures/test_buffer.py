"""The packed buffer: what goes in comes out, laid out as JavaScript expects, weights within their
stated error."""

import json
import struct

import numpy as np
import pytest

from attnviz.pictures.shared.buffer import Lower, SomeHeads, pack, packable, quantise, unpack


def test_a_buffer_is_laid_out_byte_for_byte() -> None:
    data = pack({"a": "é"}, {"w": np.array([[1, 2, 3]], np.uint8), "v": np.array([7], np.uint16)})
    text = (
        '{"a":"é","arrays":[{"name":"w","dtype":"u8","shape":[1,3],"offset":0},'
        '{"name":"v","dtype":"u16","shape":[1],"offset":4}]}'
    ).encode()
    padding = -(4 + len(text)) % 4
    header = struct.pack("<I", len(text) + padding) + text + b" " * padding
    assert data == header + b"\x01\x02\x03\x00" + b"\x07\x00\x00\x00"


def test_arrays_come_back_with_shape_type_and_odd_values() -> None:
    odd = np.array([[-0.0, np.inf], [-np.inf, np.nan], [1.5, 2.0]], np.float32)
    arrays = {
        "odd": odd,
        "codes": np.arange(2 * 3 * 5 * 7, dtype=np.uint16).reshape(2, 3, 5, 7),
        "one": np.array([255], np.uint8),
        "none": np.zeros((0, 3), np.float32),
        "turned": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    }
    header, found = unpack(pack({"tokens": ["</script>", "猫", "👩‍👩‍👧"]}, arrays))
    assert header == {"tokens": ["</script>", "猫", "👩‍👩‍👧"]}
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
    assert np.signbit(found["odd"][0, 0])


@pytest.mark.parametrize("length", range(4))
def test_the_payload_starts_at_a_multiple_of_four(length: int) -> None:
    data = pack({"pad": "x" * length}, {"w": np.zeros(3, np.float32)})
    (size,) = struct.unpack("<I", data[:4])
    assert (4 + size) % 4 == 0
    assert len(data) == 4 + size + 12
    json.loads(data[4 : 4 + size])


def test_a_header_without_a_json_form_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        pack({"error": float("nan")}, {})


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    header, _ = unpack(pack({"token": "a\ud800b"}, {}))
    assert header == {"token": "a?b"}


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match=r"f64\[2\]"):
        pack({}, {"w": np.zeros(2)})


def test_codes_are_rounded_square_roots() -> None:
    # sqrt(0.25) = 0.5 -> 0.5 * 255 = 127.5, to even 128; sqrt(0.04) = 0.2 -> 51; * 65535 = 13107
    weights = np.array([0.0, 1.0, 0.25, 0.04, np.nan, 1.0000001], np.float32)
    assert quantise(weights, 8).tolist() == [0, 255, 128, 51, 0, 255]
    assert quantise(weights, 16).tolist() == [0, 65535, 32768, 13107, 0, 65535]


@pytest.mark.parametrize(("bits", "bound"), [(8, 0.13), (16, 0.0005)])
def test_the_relative_error_above_a_thousandth_is_bounded(bits: int, bound: float) -> None:
    weights = np.linspace(1e-3, 1, 20_011, dtype=np.float32)
    codes = quantise(weights, 8) if bits == 8 else quantise(weights, 16)
    back = (codes.astype(np.float64) / (2**bits - 1)) ** 2
    error = np.abs(back - weights) / weights
    assert error.max() <= bound
    assert error.max() > bound / 10  # the bound means something


HEADS = (2, 3)


def causal(n_query: int, n_key: int, seen: int = 1) -> np.ndarray:
    """Rows of weights > 0, the first of which sees that many keys, each next one key more."""
    visible = np.arange(n_key) < np.arange(n_query)[:, None] + seen
    raw = np.random.default_rng(n_query).uniform(0.1, 1, (*HEADS, n_query, n_key)) * visible
    weights: np.ndarray = (raw / raw.sum(axis=-1, keepdims=True)).astype(np.float32)
    return weights


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize(("n_query", "n_key", "seen"), [(3, 3, 1), (7, 7, 1), (5, 11, 3)])
def test_a_causal_half_is_left_out_and_comes_back_as_zeros(
    bits: int, n_query: int, n_key: int, seen: int
) -> None:
    weights = causal(n_query, n_key, seen)
    kept = packable(weights, bits)  # type: ignore[arg-type]
    assert isinstance(kept, Lower) and kept.first == seen
    assert kept.cells.shape == (*HEADS, sum(range(seen, seen + n_query)))
    found = unpack(pack({}, {"weights": kept}))[1]["weights"]
    wanted = weights if bits == 32 else quantise(weights, bits)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found, wanted)


def test_rows_are_stored_one_after_the_other_and_the_entry_says_so() -> None:
    weights = np.zeros((1, 1, 3, 3), np.float32)
    weights[0, 0] = [[1, 0, 0], [0.25, 0.04, 0], [0, 0.25, 1]]
    data = pack({}, {"weights": packable(weights, 8)})
    start = 4 + int.from_bytes(data[:4], "little")
    (entry,) = json.loads(data[4:start])["arrays"]
    assert entry["shape"] == [1, 1, 3, 3] and entry["first"] == 1
    # 255 · sqrt: 1 -> 255, 0.25 -> 128, 0.04 -> 51; 1 + 2 + 3 cells, padded to a multiple of four
    assert list(data[start:]) == [255, 128, 51, 0, 128, 255, 0, 0]


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("is_causal", [True, False])
def test_some_heads_take_their_own_room_alone_and_come_back_at_their_places(
    bits: int, is_causal: bool
) -> None:
    weights = causal(7, 7) if is_causal else np.full((*HEADS, 7, 7), 0.5, np.float32)
    places = (1, 2, 5)
    some = SomeHeads(weights.reshape(-1, 7, 7)[list(places)], weights.shape, places)
    kept = packable(some, bits)  # type: ignore[arg-type]
    assert isinstance(kept, SomeHeads)
    assert kept.stored.size == 3 * (28 if is_causal else 49)
    data = pack({}, {"weights": kept})
    (entry,) = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])["arrays"]
    assert (entry["shape"], entry["places"]) == ([2, 3, 7, 7], [1, 2, 5])
    wanted = weights if bits == 32 else quantise(weights, bits)  # type: ignore[arg-type]
    wanted = wanted.copy()
    wanted.reshape(-1, 7, 7)[[0, 3, 4]] = 0
    np.testing.assert_array_equal(unpack(data)[1]["weights"], wanted)


def test_one_weight_on_what_comes_later_sends_everything() -> None:
    weights = causal(7, 7)
    for head in np.ndindex(HEADS):
        seeing = weights.copy()
        seeing[(*head, 0, 6)] = 0.5
        assert np.array_equal(packable(seeing, 8), quantise(seeing, 8))  # type: ignore[arg-type]
        seeing = weights.copy()
        seeing[(*head, 1, 5)] = 0.5  # not in the corner that is looked at first
        assert np.array_equal(packable(seeing, 8), quantise(seeing, 8))  # type: ignore[arg-type]
        assert np.array_equal(packable(seeing, 32), seeing)  # type: ignore[arg-type]


def test_a_row_without_a_number_hides_no_weight_of_another_head() -> None:
    weights = causal(7, 7)
    weights[0, 0, 1] = np.nan
    weights[1, 2, 1, 6] = 0.5
    assert np.array_equal(packable(weights, 8), quantise(weights, 8))  # type: ignore[arg-type]
    assert packable(weights, 32) is weights


@pytest.mark.parametrize("shape", [(2, 3, 0, 0), (0, 3, 5, 5), (2, 3, 1, 1)])
def test_nothing_and_one_token_are_sent_as_they_are(shape: tuple[int, ...]) -> None:
    weights = np.ones(shape, np.float32)
    found = unpack(pack({}, {"weights": packable(weights, 8)}))[1]["weights"]
    np.testing.assert_array_equal(found, quantise(weights, 8))


def test_heads_that_see_only_zeros_fit_into_nothing() -> None:
    kept = packable(np.zeros((1, 1, 3, 3), np.float32), 8)
    assert isinstance(kept, Lower)
    assert not kept.whole().any() and kept.whole().shape == (1, 1, 3, 3)
