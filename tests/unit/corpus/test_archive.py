"""`read_survey` refuses every archive that is not one of ours, and allocates nothing for it."""

import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from attnviz import BadInput
from attnviz.corpus.archive import read_survey
from attnviz.types import MIB
from tests.support import tallies
from tests.support.tallies import archive, array_part, described, header_part, parts

MANY = 100_000  # heads: their arrays take 4.8 GB
MOST_BYTES = 16 * MIB


def empty_arrays(n_head: int) -> dict[str, bytes]:
    """The arrays of a tally of many heads, none of which has a number."""
    return parts() | {"values": header_part((0, n_head)), "even": header_part((0, 1))}


def about(**changes: object) -> dict[str, bytes]:
    """The archive with other entries in its description."""
    return parts() | described(tallies.description(parts()) | changes)


def damaged(data: bytes) -> bytes:
    """The archive with another byte in the middle of its first compressed member."""
    return data[:80] + bytes(byte ^ 0xFF for byte in data[80:96]) + data[96:]


def patched(data: bytes, at_local: int, at_listed: int, value: int) -> bytes:
    """The archive with a number in the header of its first member, and in the list of members."""
    changed, listed = bytearray(data), data.index(b"PK\1\2")
    changed[at_local : at_local + 2] = value.to_bytes(2, "little")
    changed[listed + at_listed : listed + at_listed + 2] = value.to_bytes(2, "little")
    return bytes(changed)


HOSTILE = {
    "many heads without a number": archive(empty_arrays(MANY)),
    "heads beyond all memory": archive(empty_arrays(2**60)),
    "a header of 8 GB": archive(parts() | {"corner": header_part((10**9,))}),
    "a negative size": archive(parts() | {"corner": header_part((-1, -8))}),
    "objects": archive(parts() | {"corner": header_part((1,), b"cos\nsystem", "|O")}),
    "nesting in the description": archive(parts() | described("[" * 200_000)),
    "infinity in the description": archive(parts() | described('{"n_entry": 1e999}')),
    "a vocabulary beyond 64 bits": archive(about(n_entry=10**30)),
    "a vocabulary whose pairs are beyond 64 bits": archive(about(n_entry=2**31)),
    "a text that is missing": archive(about(texts={})),
    "a number of many digits": archive(about(texts={"9" * 5000: "x"})),
    "heads of other layers": archive(about(heads=["L0.H0"] * 4)),
    "a head that is none": archive(about(heads=["x", "L0.H1", "L1.H0", "L1.H1"])),
    "counts of nothing": archive(
        parts()
        | {
            f"pairs.{name}": array_part(np.array([0], dtype=np.int64))
            for name in ("code", "weight", "count")
        }
    ),
    "numbers below 0": archive(parts() | {"corner_seen": array_part(np.full((24, 24), -1))}),
    "a damaged member": damaged(archive(parts())),
    "an encrypted member": patched(archive(parts()), 6, 8, 1),
    "a method that nobody knows": patched(archive(parts()), 8, 10, 99),
    "another kind of archive": archive(parts(), zipfile.ZIP_STORED)[:-22],
    "a comment behind the archive": archive(parts()) + b" ",
    "a part twice": archive(parts()).replace(b"even.npy", b"size.npy"),
    "a long list of members": archive({f"{number:09}": b"" for number in range(2000)}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_by_name_before_anything_is_allocated(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "hostile.npz"
    path.write_bytes(HOSTILE[name])
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match=r"hostile\.npz: "):
            read_survey(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES


def test_an_archive_that_unpacks_to_more_than_it_may_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.npz"
    path.write_bytes(archive(parts()))
    assert read_survey(path).n_text == 1
    with pytest.raises(BadInput, match="unpacks to more than 0 MiB"):
        read_survey(path, max_bytes=1000)
    path.write_bytes(archive(about(texts={"1": "text 1" + " " * 2 * MIB})))
    with pytest.raises(BadInput, match="its description has more than"):
        read_survey(path, max_bytes=4 * MIB)


def test_an_archive_of_numpys_own_writer_is_read(tmp_path: Path) -> None:
    honest, again = tmp_path / "honest.npz", tmp_path / "again.npz"
    honest.write_bytes(archive(parts()))
    with np.load(honest) as arrays:
        np.savez_compressed(again, **arrays)
    assert repr(read_survey(again)) == repr(read_survey(honest)) == repr(tallies.survey(1))
