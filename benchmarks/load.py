"""Fifty visitors at once, and many one after the other: `python -m benchmarks.load`.

Each session is a tab without a browser (`benchmarks.stream`): it opens a page, and then turns to
another page, text, head or card every few seconds, as a reader does. The time of an action is from
asking for the run to its last message. After them come the visits of a day, one after the other:
each opens a page and closes its tab. Prints one table: the times, the errors (an exception, a red
box, a run without end), and the memory of the server before, after each round of sessions, and
after each fifth of the visits. `--part` picks one; `--rounds 10` lets fifty new visitors come ten
times; `--pages calculator learn --at-once 8` takes a day's 20,000 visits in less time. With
`--processes 2` visitors take turns between two servers, as behind the proxy of `deploy/compose`,
and the memory is that of both.
"""

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import urlencode

from streamlit.proto.Alert_pb2 import Alert

from attnviz.app.server.edge.health import KEY_VARIABLE
from attnviz.pictures.shared.pages import Door
from benchmarks.measure import Result, report
from benchmarks.stream import Stream
from benchmarks.tabs import KEY, MIB, gauges
from tests.support.server import serve

SESSIONS, MINUTES, VISITS = 50, 10.0, 2000
PAUSE_S = (5.0, 15.0)  # of a reader between two actions
BUDGET_MS = 300
GROWTH_MIB = 50
AT_ONCE = 4
FREED_S = 75  # a closed tab gives its memory back within this
RUN_LIMIT_S = 60.0
WORDS = (
    "the cat dog bird girl king old small saw loved chased fed in under near a red house".split()
)
LESSONS = ("block", "ask", "scale", "masks")
PAGES: tuple[Door, ...] = (
    "overview", "steps", "masks", "switches", "geometry", "learn", "calculator",
)  # fmt: skip


@dataclass
class Seen:
    """The pages of all actions with their times in milliseconds, and what went wrong."""

    actions: list[tuple[Door, float]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def views(rng: random.Random, pages: Sequence[Door]) -> Iterator[tuple[Door, str]]:
    """Pages with their queries, without end: what a reader opens one after the other."""
    while True:
        text = " ".join(rng.choices(WORDS, k=rng.randint(4, 12))) + "."
        for page in rng.sample(pages, k=min(3, len(pages))):
            place = {"layer": rng.randrange(6), "head": rng.randrange(12)}
            if page == "learn":
                yield page, urlencode({"lesson": rng.choice(LESSONS)})
            else:
                yield page, urlencode({"text": text, **place})


class Visitor:
    """One tab, and the times of what was done in it."""

    pause_s = PAUSE_S
    pages: Sequence[Door] = PAGES

    def __init__(self, host: str, seed: int, seen: Seen) -> None:
        self.host, self.seed, self.seen = host, seed, seen
        self._rng = random.Random(seed)
        self._views = views(self._rng, self.pages)

    async def stay(self, until: float) -> None:
        """Open a tab and use it until that time."""
        await asyncio.sleep(self._rng.uniform(0, self.pause_s[1]))  # they do not come all at once
        stream = await self.open()
        while time.monotonic() < until:
            await self._act(stream)
            await asyncio.sleep(self._rng.uniform(*self.pause_s))
        await stream.close()

    async def open(self) -> Stream:
        """A new tab."""
        return await Stream.open(self.host)

    async def visit(self) -> None:
        """Open a page in a new tab and close it."""
        stream = await self.open()
        await self._act(stream)
        await stream.close()

    async def _act(self, stream: Stream) -> None:
        page, stream.query = next(self._views)
        start = time.monotonic()
        try:
            await asyncio.wait_for(self._run(stream, page), RUN_LIMIT_S)
        except TimeoutError:
            self.seen.wrong.append(f"{page}?{stream.query}: no end after {RUN_LIMIT_S:.0f} s")
        except ConnectionError as error:
            self.seen.wrong.append(f"{page}?{stream.query}: {error}")
        self.seen.actions.append((page, 1000 * (time.monotonic() - start)))

    async def _run(self, stream: Stream, page: Door) -> None:
        asked = stream.query
        await stream.ask(page)
        async for message in stream.run():
            kind = message.WhichOneof("type")
            element = message.delta.new_element if kind == "delta" else None
            if element is not None and (problem := problem_of(element)):
                self.seen.wrong.append(f"{page}?{asked}: {problem}")


def problem_of(element: object) -> str | None:
    """The message of an exception or of a red box; None for anything else."""
    kind = element.WhichOneof("type")  # type: ignore[attr-defined]
    if kind == "exception":
        return str(element.exception.message)  # type: ignore[attr-defined]
    if kind == "alert" and element.alert.format == Alert.ERROR:  # type: ignore[attr-defined]
        return str(element.alert.body)  # type: ignore[attr-defined]
    return None


async def crowd(hosts: Sequence[str], first_seed: int, count: int, minutes: float) -> Seen:
    """What so many sessions, which take turns between servers, saw in so many minutes."""
    seen, until = Seen(), time.monotonic() + 60 * minutes
    seeds = range(first_seed, first_seed + count)
    visitors = [Visitor(hosts[seed % len(hosts)], seed, seen) for seed in seeds]
    await asyncio.gather(*(visitor.stay(until) for visitor in visitors))
    return seen


async def day(hosts: Sequence[str], first: int, count: int, at_once: int = AT_ONCE) -> Seen:
    """What so many visitors saw, one after the other, some at once."""
    seen, numbers = Seen(), iter(range(first, first + count))

    async def queue() -> None:
        for number in numbers:
            await Visitor(hosts[number % len(hosts)], 10_000 + number, seen).visit()

    await asyncio.gather(*(queue() for _ in range(at_once)))
    return seen


def rows_of(name: str, seen: Seen, budget_ms: float | None = None) -> list[Result]:
    """The median and the 95th percentile of the times, that of the slowest page, and the errors."""
    wrong = f"{len(seen.wrong)} errors, first {seen.wrong[:3]}" if seen.wrong else None
    times = tuple(ms for _, ms in seen.actions)
    of_pages = {page: [ms for each, ms in seen.actions if each == page] for page in PAGES}
    slowest = max(of_pages, key=lambda page: _late(of_pages[page]))
    return [
        Result(f"{name}: {len(times)} actions", times, "ms", wrong=wrong),
        Result(f"{name}: 95th percentile", (_late(times),), "ms", budget_ms),
        Result(f"{name}: 95th percentile of {slowest}", (_late(of_pages[slowest]),), "ms"),
    ]


def _late(times: Sequence[float]) -> float:
    """The 95th percentile; of one time itself, and 0 of none."""
    return statistics.quantiles(times, n=20)[-1] if len(times) > 1 else sum(times)


def memory(urls: Sequence[str], name: str, before: float | None = None) -> Result:
    """The memory of the servers; wrong where it grew more than the limit."""
    mib = sum(gauges(url)["memory_bytes"] for url in urls) / MIB
    grown = before is not None and mib - before > GROWTH_MIB
    wrong = f"{mib - before:.0f} MiB more than before" if grown and before is not None else None
    return Result(f"memory {name}", (mib,), "MiB", wrong=wrong)


def measure(urls: Sequence[str], options: argparse.Namespace) -> list[Result]:
    """The rows of the table."""
    hosts, rows = [url.removeprefix("http://") for url in urls], list[Result]()
    warm = asyncio.run(day(hosts, -200, 100 * len(hosts)))  # all models and lessons are loaded
    assert not warm.wrong, warm.wrong[:3]
    time.sleep(FREED_S)
    rows.append(memory(urls, "warm, no tab open"))
    before = rows[-1].median
    if options.part in ("sessions", "all"):
        for number in range(1, options.rounds + 1):
            first_seed = (number - 1) * options.sessions
            seen = asyncio.run(crowd(hosts, first_seed, options.sessions, options.minutes))
            name = f"round {number}: {options.sessions} sessions, {options.minutes:g} minutes"
            rows += rows_of(name, seen, BUDGET_MS)
            time.sleep(FREED_S)
            rows.append(memory(urls, f"after round {number}", before))
    if options.part in ("visits", "all"):
        Visitor.pages = options.pages
        for turn in range(5):
            count = options.visits // 5
            seen = asyncio.run(day(hosts, turn * count, count, options.at_once))
            rows += rows_of(f"visits {turn * count} to {(turn + 1) * count}", seen)
            time.sleep(FREED_S)
            rows.append(memory(urls, f"after {(turn + 1) * count} visits", before))
    return rows


def main() -> int:
    """Measure and print; 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks.load", description=__doc__)
    parser.add_argument("--part", choices=("sessions", "visits", "all"), default="all")
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--visits", type=int, default=VISITS)
    parser.add_argument("--pages", nargs="+", choices=PAGES, default=PAGES)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    with ExitStack() as running:
        servers = [serve(env={KEY_VARIABLE: KEY}) for _ in range(options.processes)]
        results = measure([running.enter_context(server) for server in servers], options)
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
