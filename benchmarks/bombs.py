"""Hostile model folders opened beside a visitor who reads: `python -m benchmarks.bombs`.

In: the app, started here, and a folder of every hostile kind of the tests. One tab opens an honest
folder, for which the server loads its libraries and the process that tries models, and then the
hostile ones; another tab turns the pages of the calculator and of a lesson all the time. Out: a
table: how long each refusal took, and how long the other visitor waited; wrong where a folder was
not refused, or the visitor was shown an error.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from attnviz.app.server.sources import VARIABLE
from attnviz.pictures.shared.pages import Door
from benchmarks.load import problem_of
from benchmarks.measure import Result, report
from benchmarks.stream import Stream
from tests.support import folders
from tests.support.hostile_models import KINDS
from tests.support.server import serve

REFUSED_MS, ANSWERED_MS = 5000, 1000
PAUSE_S = 0.5
READ: tuple[tuple[Door, str], ...] = (("calculator", ""), ("learn", "lesson=block"))
TEXT = 60 * "a"


def write_folders(place: Path) -> list[Path]:
    """An honest folder and one of each hostile kind below that place."""
    written = [folders.save(place / "honest", "bert")]
    for number, kind in enumerate(KINDS):
        folder = folders.save(place / f"{number}", kind.model)
        kind.change(folder)
        written.append(folder)
    return written


async def run(stream: Stream, page: Door, query: str) -> tuple[float, str]:
    """The milliseconds of a run of a page, and the message that it showed; "" for none."""
    stream.query = query
    start, said = time.monotonic(), ""
    await stream.ask(page)
    async for message in stream.run():
        if message.WhichOneof("type") == "delta":
            said = said or problem_of(message.delta.new_element) or ""
    return 1000 * (time.monotonic() - start), said


async def open_all(host: str, hostile: list[Path]) -> tuple[list[float], list[str]]:
    """The time of each refusal, and the folders that were not refused."""
    times, opened = [], []
    for folder in hostile:
        stream = await Stream.open(host)
        took, said = await run(stream, "overview", urlencode({"model": folder, "text": TEXT}))
        times.append(took)
        if not said:
            opened.append(folder.name)
        await stream.close()
    return times, opened


async def read(host: str, times: list[float], errors: list[str]) -> None:
    """A visitor who turns a page every half second, until cancelled."""
    stream = await Stream.open(host)
    while True:
        for page, query in READ:
            took, said = await run(stream, page, query)
            times.append(took)
            errors += [said] if said else []
            await asyncio.sleep(PAUSE_S)


async def beside(host: str, hostile: list[Path]) -> list[Result]:
    """The rows of the table."""
    times, errors = list[float](), list[str]()
    reader = asyncio.create_task(read(host, times, errors))
    (first,), honest = await open_all(host, hostile[:1])
    assert honest, "the honest folder was refused"
    n_warm = len(times) + 2
    while len(times) < n_warm:  # the first pages load the lessons
        await asyncio.sleep(PAUSE_S)
    times.clear()
    refusals, opened = await open_all(host, hostile[1:])
    reader.cancel()
    return [
        Result("the first model, an honest one", (first,), "ms"),
        Result(f"{len(refusals)} folders: a refusal", tuple(refusals), "ms"),
        Result(
            "the slowest refusal",
            (max(refusals),),
            "ms",
            REFUSED_MS,
            f"opened: {opened}" if opened else None,
        ),
        Result(f"{len(times)} pages of another visitor", tuple(times), "ms"),
        Result(
            "the slowest of these",
            (max(times),),
            "ms",
            ANSWERED_MS,
            f"errors: {errors[:3]}" if errors else None,
        ),
    ]


def main() -> int:
    """Measure and print; 1 if something was wrong."""
    with tempfile.TemporaryDirectory() as place:
        hostile = write_folders(Path(place))
        with serve(env={VARIABLE: place}) as url:
            results = asyncio.run(beside(url.removeprefix("http://"), hostile))
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
