"""Tallies of a survey with numbers that are drawn, and the archives that hold them."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from attnviz.corpus.archive import DESCRIBED, survey_bytes
from attnviz.corpus.result import Survey
from attnviz.corpus.tally import NO_TICKET, SurveyTally, WeightSums
from attnviz.corpus.tally import ticket as ticket_of
from attnviz.types import HeadId, ModelKey

N_HEAD, N_ENTRY = 4, 11


def drawn(seed: int) -> SurveyTally:
    """A tally of one text with numbers that are drawn."""
    draws = np.random.default_rng(seed)
    empty = SurveyTally.empty(2, N_HEAD, N_ENTRY)
    arrays = {
        entry.name: getattr(empty, entry.name) + draws.integers(0, 1 << 30)
        for entry in fields(SurveyTally)
        if isinstance(getattr(empty, entry.name), np.ndarray)
    }
    ticket = np.full(empty.ticket.shape, NO_TICKET, dtype=np.uint64)
    example = np.full(ticket.shape, -1, dtype=np.int64)
    filled = draws.random(ticket.shape[:3]) < 0.5
    ticket[filled, 0], example[filled, 0] = ticket_of(f"text {seed}"), seed

    def weighed(size: int) -> WeightSums:
        return WeightSums.summed(*draws.integers(0, size, (3, 40)))

    others = {"ticket": ticket, "example": example, "texts": {seed: f"text {seed}"}}
    counts = {"received": weighed(N_HEAD * N_ENTRY), "pairs": weighed(N_HEAD * N_ENTRY**2)}
    return SurveyTally(
        **{**arrays, "n_entry": N_ENTRY, "n_text": 1, "n_token": 9, **counts, **others}
    )


def survey(seed: int) -> Survey:
    """A survey of two layers with two heads each."""
    heads = tuple(HeadId(layer, head) for layer in range(2) for head in range(N_HEAD // 2))
    labels = {entry: f"token {entry}" for entry in range(N_ENTRY)}
    return Survey(ModelKey("mine", "1", "float32", "cpu"), heads, drawn(seed), labels)


def parts(seed: int = 1) -> dict[str, bytes]:
    """The members of a survey's archive by their names without ".npy"."""
    with zipfile.ZipFile(io.BytesIO(survey_bytes(survey(seed)))) as archive:
        return {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}


def archive(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """The archive of members by their names without ".npy"."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written:
        for name, content in members.items():
            written.writestr(f"{name}.npy", content)
    return file.getvalue()


def array_of(part: bytes) -> np.ndarray:
    """The array of a member."""
    array: np.ndarray = np.lib.format.read_array(io.BytesIO(part))
    return array


def array_part(array: np.ndarray) -> bytes:
    """An array as a member."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return file.getvalue()


def header_part(shape: tuple[int, ...], content: bytes = b"", descr: str = "<i8") -> bytes:
    """A member whose header names a shape, whatever its content."""
    file = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + content


def description(members: Mapping[str, bytes]) -> Any:
    """The JSON that describes an archive."""
    return json.loads(array_of(members[DESCRIBED]).tobytes())


def described(value: object) -> dict[str, bytes]:
    """The member of another description; a text stands as it is."""
    text = value if isinstance(value, str) else json.dumps(value)
    content = np.frombuffer(text.encode(errors="surrogatepass"), np.uint8)
    return {DESCRIBED: array_part(content)}
