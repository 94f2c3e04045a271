"""Hostile files and addresses, made at random: each ends in a sentence of ours, or is harmless.

In: a kind, a seed and a count. Out: how often each outcome came, and every attempt that ended
otherwise, by the name that makes it again. As a command it runs in a process of its own with little
memory, so that one that takes too much is seen: `python -m tests.support.fuzz capture 1 20000`.
"""

import gc
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

from attnviz.errors import AttnVizError
from attnviz.types import MIB
from tests.support import tallies
from tests.support.mutations import VALUES, flipped, mutated

MEMORY_BYTES = 2 << 30  # address space
WARM = 1000  # attempts after which memory is measured first: each kind of model is imported once
SLOW_S = 20.0
OPENED = "opened"
Attempt = Callable[[random.Random, Path], str]


# --- archives of surveys -----------------------------------------------------------------------

SIZES = (0, 1, 2, 3, 4, 5, 10, 24, 65, 100, 1000, 10**5, 10**9, 2**40, 2**63, -1)
TYPES = ("<i8", "|u1", "<f8", ">i8", "|O", "<U4", "|b1", "<c16", "<M8[s]", "i8, f4")
METHODS = (0, 8, 12, 14, 99)


def archive_attempt(rng: random.Random, folder: Path) -> str:
    """Read an archive that was changed, and all that its survey tells."""
    path = folder / "survey.npz"
    path.write_bytes(hostile_archive(rng))
    from attnviz.corpus.archive import read_survey

    survey = read_survey(path, max_bytes=128 * MIB)
    use_survey(survey)
    return OPENED


def hostile_archive(rng: random.Random) -> bytes:
    """An archive with changes in its description, its arrays, its members or its bytes."""
    members = tallies.parts()
    for change in (_description, _array, _header, _member):
        if rng.random() < 0.35:
            change(rng, members)
    data = tallies.archive(members, rng.choice((0, 8, 8, 8)))
    if rng.random() < 0.2:
        data = _method(rng, data)
    return flipped(rng, data) if rng.random() < 0.2 else data


def _description(rng: random.Random, members: dict[str, bytes]) -> None:
    raw = json.dumps(tallies.description(members))
    members |= tallies.described(mutated(rng, raw, ("heads", "n_entry", "texts", "x")))


def _array(rng: random.Random, members: dict[str, bytes]) -> None:
    """Other numbers in an array of the right shape."""

    name = rng.choice([name for name in members if name != tallies.DESCRIBED])
    array = tallies.array_of(members[name]).copy()
    places = [rng.randrange(array.size) for _ in range(rng.randint(1, 20))]
    array.reshape(-1)[places] = rng.choice((-1, 0, 1, 2**31, 2**62, -(2**63), 2**63 - 1))
    members[name] = tallies.array_part(array)


def _header(rng: random.Random, members: dict[str, bytes]) -> None:
    """A header that names another shape or type, with as many bytes as before, or with none."""
    name = rng.choice([*members])
    shape = tuple(rng.choice(SIZES) for _ in range(rng.randint(0, 4)))
    content = members[name][128:] if rng.random() < 0.5 else b""
    members[name] = tallies.header_part(shape, content, rng.choice(TYPES))


def _member(rng: random.Random, members: dict[str, bytes]) -> None:
    """One member less, or one more, or one in the place of another."""
    name, other = rng.choice([*members]), rng.choice([*members, "x", "../x", "é"])
    content = members.pop(name)
    if rng.random() < 0.7:
        members[other] = content


def _method(rng: random.Random, data: bytes) -> bytes:
    """Another method, or a flag, in the header of a member or in the list of members."""
    changed = bytearray(data)
    mark, offset = rng.choice(((b"PK\3\4", 8), (b"PK\3\4", 6), (b"PK\1\2", 10), (b"PK\1\2", 8)))
    place = data.find(mark, rng.randrange(len(data))) + offset
    if offset <= place < len(data) - 2:
        changed[place] = rng.choice((*METHODS, 1, 65))
    return bytes(changed)


def use_survey(survey: "object") -> None:
    """All that a survey tells, and its picture; only errors of ours may come of it."""
    from attnviz.corpus.archive import survey_bytes
    from attnviz.corpus.result import Survey
    from attnviz.pictures.atlas.fill import atlas
    from attnviz.types import MEASURES

    assert isinstance(survey, Survey)
    repr(survey)
    head = survey.heads[-1]
    for measure in MEASURES:
        survey.deciles(head, measure)
        survey.above(head, measure, 0.5)
    survey.pairs(head)
    survey.keys(head)
    survey.profile(head)
    atlas("en", survey, head, ("entropy", "previous"), None)
    survey_bytes(survey, 1)


# --- captures ----------------------------------------------------------------------------------


@cache
def _capture_files() -> tuple[bytes, ...]:
    from attnviz.files.save import content
    from tests.support import captures

    options = {"with_weights": True, "with_outputs": True}
    return tuple(content(cap, ".safetensors", **options) for cap in captures.every_kind().values())


def capture_attempt(rng: random.Random, _folder: Path) -> str:
    """Open an upload that was changed, and compute what the pages show of it."""
    from attnviz.app.server import opened_captures

    digest = opened_captures.open_upload(hostile_capture(rng), "run.safetensors")
    opened = opened_captures.opened(digest)
    assert opened is not None
    opened_captures._uploads().clear()
    use_capture(opened)
    return OPENED


def hostile_capture(rng: random.Random) -> bytes:
    """A capture file with changes in its description, its views, its numbers or its bytes."""
    import torch
    from safetensors.torch import load, save

    from attnviz.files.capture_file.write import ENTRY

    data = rng.choice(_capture_files())
    (length,) = (int.from_bytes(data[:8], "little"),)
    raw = json.loads(data[8 : 8 + length])["__metadata__"][ENTRY]
    arrays = load(data)
    if rng.random() < 0.3:
        array = arrays[rng.choice(sorted(arrays))]
        if array.is_floating_point() and len(array):
            array[rng.randrange(len(array))] = rng.choice(
                (float("nan"), float("inf"), -float("inf"), 1e30, -1e30, 0.0)
            )
    elif rng.random() < 0.2:
        name = rng.choice(sorted(arrays))
        arrays[name] = torch.zeros(rng.choice((0, 1, 7, 1000)), dtype=rng.choice(
            (torch.float32, torch.float16, torch.int64, torch.bool)
        ))  # fmt: skip
    described = json.loads(raw)
    if rng.random() < 0.5:
        _view(rng, described["tensors"])
    text = json.dumps(described)
    if rng.random() < 0.7:
        text = mutated(rng, text, ("calls", "tensors", "mask", "kept", "x"))
    made = save(arrays, metadata={ENTRY: text.encode("ascii", "replace").decode()})
    return flipped(rng, made) if rng.random() < 0.1 else made


def _view(rng: random.Random, views: dict[str, list[object]]) -> None:
    """Another shape, stride or offset of a tensor, or those of another tensor."""
    name = rng.choice([*views])
    _array_name, _offset, shape, stride = views[name]
    assert isinstance(shape, list) and isinstance(stride, list)
    change = rng.randrange(4)
    if change == 0:
        views[name] = list(views[rng.choice([*views])])
    elif change == 1 and shape:
        shape[rng.randrange(len(shape))] = rng.choice((*SIZES, 50_000, 2**20))
    elif change == 2 and stride:
        stride[rng.randrange(len(stride))] = rng.choice((0, 1, 2, 7, 2**40, -1))
    else:
        views[name][1] = rng.choice(SIZES)


def use_capture(opened: "object") -> None:
    """What the pages compute of a capture; only errors of ours may come of it."""
    import attnviz
    from attnviz.pictures.geometry import fill as geometry
    from attnviz.pictures.group.app_capture import AppCapture, PageContext
    from attnviz.pictures.group.measures import measure
    from attnviz.pictures.shared.canvas import packed
    from attnviz.pictures.steps import CANVAS
    from attnviz.pictures.steps import fill as steps

    assert isinstance(opened, AppCapture)
    for group in opened.groups:
        with suppress(AttnVizError):
            measure(group)
        with suppress(AttnVizError):
            geometry.shares(group)
        with suppress(AttnVizError):
            shown = PageContext("en", opened, group)
            derived = attnviz.derive(group.call(0), 0, group.row(0))
            packed(CANVAS, steps.steps(shown, 0, 0, derived), "en")


# --- folders of models -------------------------------------------------------------------------

SMALL = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
FIELDS = (
    *("vocab_file", "init_inputs", "vocab", "auto_map", "quantization_config", "backbone"),
    *("num_labels", "id2label", "_attn_implementation", "transformers_weights", "fusion_config"),
    *("tokenizer_class", "architectures", "model_type", "extra_special_tokens", "chat_template"),
)


@cache
def _honest_folders() -> tuple[Path, ...]:
    from tests.support import folders

    place = Path(tempfile.mkdtemp(prefix="attnviz-fuzz-"))
    return tuple(folders.save(place / name, name) for name in ("bert", "gpt2", "vit"))


def folder_attempt(rng: random.Random, place: Path) -> str:
    """Load a model's folder of which one file was changed, and run it."""
    from attnviz.capture.run import capture
    from attnviz.models.loader import load

    folder = shutil.copytree(rng.choice(_honest_folders()), place / "model")
    file = folder / rng.choice([name for name in SMALL if (folder / name).exists()])
    file.write_text(mutated(rng, file.read_text(), FIELDS), errors="surrogatepass")
    loaded = load(folder)
    if loaded.tokenizer is not None:
        capture(loaded, "the cat sat")
    return OPENED


# --- addresses ---------------------------------------------------------------------------------

CHARACTERS = (
    *("0", "1", "9", "-", ".", ",", ";", ":", "=", "~", "|", "/", "%", "%41", " ", "L0.H1"),
    *("\0", "\n", "\ud800", "\u202e", "<b>", "é", "猫", "😀", "[", "]", "{", "1e9", "nan", "inf"),
)


def address_attempt(rng: random.Random, _folder: Path) -> str:
    """Read an address, and write it: what was written is read as the same view again."""
    from attnviz.app.session import address

    names = [*address.PARAMETERS, "x"]
    query = {name: _address_value(rng) for name in rng.choices(names, k=rng.randint(1, 8))}
    values, rejected = address.parse(query)
    view = address.view_of(values)
    written = address.params(view)
    again, refused = address.parse(written)
    assert not refused and address.params(address.view_of(again)) == written, (query, written)
    return "rejected" if rejected else OPENED


def _address_value(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return str(rng.choice(VALUES))
    if rng.random() < 0.3:
        return rng.choice(_honest_values())
    return "".join(rng.choices((*CHARACTERS, *_honest_values()), k=rng.randint(1, 12)))


@cache
def _honest_values() -> tuple[str, ...]:
    return (
        *("head", "en", "minilm", "stories", "causal", "band:3", "q.1.2=0.5", "L1.H2=zero"),
        *("0.5", "self", "decoder", "entropy", "a~b", "block/order=right", "1.2;3.4", "on"),
    )


KINDS: dict[str, Attempt] = {
    "archive": archive_attempt,
    "capture": capture_attempt,
    "folder": folder_attempt,
    "address": address_attempt,
}


@dataclass
class Report:
    """The outcomes of all attempts; `unexpected` and `slow` name those that are faults."""

    kind: str
    seed: int
    count: int
    outcomes: dict[str, int] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    grown_mib: int = 0
    seconds: float = 0.0


def run(kind: str, seed: int, count: int) -> Report:
    """Make and try so many; each has a seed of its own, `kind seed number`."""
    report, outcomes, start, before = Report(kind, seed, count), Counter[str](), time.monotonic(), 0
    for number in range(count):
        name = f"{kind} {seed} {number}"
        begun = time.thread_time()
        try:
            outcomes[attempt(name)] += 1
        except Exception as error:
            report.unexpected.append(f"{name}: {type(error).__name__}: {error!s:.300}")
        if time.thread_time() - begun > SLOW_S:
            report.slow.append(name)
        if number == min(WARM, count - 1):
            before = _resident_mib()
    report.grown_mib = _resident_mib() - before
    report.outcomes, report.seconds = dict(outcomes.most_common()), time.monotonic() - start
    return report


def attempt(name: str) -> str:
    """The outcome of one attempt: "opened", or the code of our error."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return KINDS[name.split()[0]](random.Random(name), Path(folder))
        except AttnVizError as error:
            assert str(error)
            return error.code


def _resident_mib() -> int:
    from attnviz.app.server.edge import heap

    gc.collect()
    heap.give_back()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() // MIB


def main() -> None:
    """Run one kind under a limit of memory, and print its report as JSON in the last line."""
    os.environ["OMP_NUM_THREADS"] = "1"  # as the app has it; threads would wait for each other
    kind, seed, count = sys.argv[1:4]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.stdout.write(json.dumps(asdict(run(kind, int(seed), int(count)))) + "\n")


if __name__ == "__main__":
    main()
