"""`survey`: every head of a model on many texts or pictures, in one pass, with bounded memory.

In: a model and texts or pictures. Out: a `Survey`. They are counted in shards; the files of the
shards in `folder` are the checkpoint, and who computes a shard changes nothing in them.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from attnviz.capture.run import capture
from attnviz.corpus.archive import read_tally
from attnviz.corpus.embedded import embedded_survey
from attnviz.corpus.engines import ENGINES, Engine, SurveyJob, in_a_pool, in_this_process
from attnviz.corpus.items import READS, Item, Pictures, blank, items
from attnviz.corpus.result import Survey
from attnviz.corpus.shards import SHARD, Progress, Shard, file_name, fingerprint, shards, tally
from attnviz.corpus.tally import SurveyTally
from attnviz.corpus.texts import Texts, require_reader
from attnviz.errors import not_allowed, require_callback
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.types import HeadId, ignore


def survey(
    lm: LoadedModel | str | Path,
    texts: Texts | Pictures | None = None,
    *,
    folder: str | Path | None = None,
    workers: int = 1,
    engine: Engine | str | None = None,
    address: str | None = None,
    part: str | None = None,
    resume: bool = True,
    progress: Progress = ignore,
) -> Survey:
    """Count every head's measures on many texts or pictures, with what chance gives beside them.

    Parameters:

    - `lm`: a loaded model, or a name, hub id or folder.
    - `texts`: a list, or the path of a folder of .txt files, of a .txt (a text per line), .csv,
      .jsonl or .parquet (a column `text`). A text longer than the model reads is cut into pieces.
      A model of pictures takes a list of pictures, a mapping of names to pictures, or a folder of
      .png and .jpg files; its patches count as tokens in reading order, and the survey's texts are
      their names. Without texts the survey is the one of 2,000 texts that comes with an embedded
      model.
    - `folder` keeps a file for each 512 texts, so that a survey that was stopped goes on where it
      was; with `resume` False they are counted again.
    - `workers`: the number of processes. `part="3/8"` counts only every eighth shard from the third
      on, for the tasks of a cluster's array job on one folder; the survey without `part` then only
      adds the files up.
    - `engine`: "ray" lets a Ray cluster at `address` count the shards; "local" as address starts
      one on this machine, whose ports are open to the network.
    - `progress` is called with the shards that are done and all of them; it may raise `Cancelled`.

    Returns a `Survey`. All ways give the same bytes.

    Raises `BadInput` for texts that cannot be read, for none at all, for a model that reads neither
    plain texts nor pictures, and for arguments that do not go together; `MissingExtra` where Ray or
    pyarrow is needed and not installed.

    Example:

    >>> attnviz.survey("stories")
    Survey of stories: 16 heads, 2,000 texts, 126,736 tokens
    """
    require_callback(progress)
    loaded = lm if isinstance(lm, LoadedModel) else load(lm)
    chosen = _engine(engine, workers, folder, part, address)
    if loaded.kind != "vision":
        require_reader(loaded, READS)
    if texts is None:
        return _embedded(loaded, folder, workers, engine)
    with ExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory()) if folder is None else folder)
        place.mkdir(parents=True, exist_ok=True)
        name = loaded.key.id if isinstance(lm, LoadedModel) else str(lm)
        job = SurveyJob(name, fingerprint(loaded), str(place.resolve()))

        def every() -> Iterator[Shard]:
            all_shards = shards(items(loaded, texts))
            return (shard for shard in all_shards if _is_in(part, shard))

        names = [file_name(job.fingerprint, shard) for shard in every()]
        if not names:
            raise not_allowed("texts", "empty: there is nothing to count", "texts or pictures")
        done = _reported(names, place, resume, progress)
        todo = _todo(every(), names, place, resume)
        _count(chosen, loaded, job, todo, done, workers, address)
        total = _added(place / name for name in names)
    return _survey(loaded, total)


def survey_at_once(lm: LoadedModel, texts: Texts | Pictures, progress: Progress = ignore) -> Survey:
    """The survey of the first `SHARD` texts or pictures, in memory; `progress` counts them.

    The numbers are those of `survey` on the same items.
    """
    few: tuple[Item, ...] = tuple(islice(items(lm, texts), SHARD))
    if not few:
        raise not_allowed("texts", "empty: there is nothing to count", "texts or pictures")
    return _survey(lm, tally(lm, Shard(0, 0, few), progress).closed())


def _embedded(
    lm: LoadedModel, folder: str | Path | None, workers: int, engine: str | None
) -> Survey:
    """The survey that comes with a model; nothing is counted for it."""
    if folder is not None or workers > 1 or engine is not None:
        raise not_allowed("texts", "None with folder=, workers= or engine=", "texts to count")
    known = embedded_survey(lm)
    if known is None:
        raise not_allowed("texts", f"None, and {lm.name} comes without a survey", "texts to count")
    return known


def _count(
    engine: Engine,
    lm: LoadedModel,
    job: SurveyJob,
    todo: Iterator[Shard],
    done: Callable[[Shard], None],
    workers: int,
    address: str | None,
) -> None:
    if engine == "process":
        in_this_process(lm, job, todo, done)
    elif engine == "pool":
        in_a_pool(job, todo, done, workers)
    else:
        from attnviz.corpus.engines import on_ray  # the only import of Ray's side

        assert address is not None
        on_ray(job, todo, done, workers, address)


def _todo(every: Iterator[Shard], names: list[str], folder: Path, resume: bool) -> Iterator[Shard]:
    """The shards without a file, read when their turn comes; all of them unless it resumes."""
    for shard, name in zip(every, names, strict=True):
        if not (resume and (folder / name).exists()):
            yield shard


def _reported(
    names: list[str], folder: Path, resume: bool, progress: Progress
) -> Callable[[Shard], None]:
    """A function that reports each shard that is done."""
    n_done = sum((folder / name).exists() for name in names) if resume else 0
    progress(n_done, len(names))

    def done(_shard: Shard) -> None:
        nonlocal n_done
        n_done += 1
        progress(n_done, len(names))

    return done


def _added(files: Iterator[Path]) -> SurveyTally:
    """The tallies of all files together, in the order of the texts."""
    total: SurveyTally | None = None
    for file in files:
        tally = read_tally(file)
        total = tally if total is None else total + tally
    assert total is not None
    return total.closed()


def _survey(lm: LoadedModel, tally: SurveyTally) -> Survey:
    """The survey with the names of heads and tokens."""
    is_vision = lm.kind == "vision"
    texts = tally.texts.values()
    cap = blank(lm) if is_vision else capture(lm, min(texts, key=len), cut=True)
    heads = tuple(HeadId(call.layer, head) for call in cap.calls for head in range(call.n_heads))
    n_entry = tally.n_entry
    pairs, received = tally.pairs.code % n_entry**2, tally.received.code % n_entry
    entries = np.unique(np.concatenate([pairs // n_entry, pairs % n_entry, received])).tolist()
    names = [cap.tokens.labels[entry] for entry in entries] if is_vision else lm.labels_of(entries)
    return Survey(lm.key, heads, tally, dict(zip(entries, names, strict=True)))


def _engine(
    engine: str | None,
    workers: int,
    folder: str | Path | None,
    part: str | None,
    address: str | None,
) -> Engine:
    """The engine to use; raises `BadInput` for arguments that do not go together."""
    name = engine or ("pool" if workers > 1 else "process")
    if name not in ENGINES:
        raise not_allowed("engine", repr(engine), ", ".join(ENGINES))
    chosen = ENGINES[ENGINES.index(name)]
    if workers < 1:
        raise not_allowed("workers", str(workers), "a whole number of at least 1")
    if chosen == "process" and workers > 1:
        raise not_allowed("workers", f'{workers} with engine="process"', 'engine="pool" or "ray"')
    if address is not None and chosen != "ray":
        raise not_allowed("address", f'{address} with engine="{chosen}"', 'engine="ray"')
    if address is None and chosen == "ray":
        allowed = 'that of a cluster; "local" starts one here, with ports open to the network'
        raise not_allowed("address", 'None with engine="ray"', allowed)
    if part is not None:
        _part(part)
        if folder is None:
            raise not_allowed("folder", "None with part=", "the folder that all parts share")
    return chosen


def _part(part: str) -> tuple[int, int]:
    """The number of the part and of all parts: "3/8" is (3, 8)."""
    number, _, count = part.partition("/")
    if number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
        return int(number), int(count)
    raise not_allowed("part", repr(part), '"1/8" to "8/8"')


def _is_in(part: str | None, shard: Shard) -> bool:
    if part is None:
        return True
    number, count = _part(part)
    return shard.number % count == number - 1
