"""One visitor with five tabs that ask without end, beside ten who read.

    python -m benchmarks.hostile_tabs
    python -m benchmarks.hostile_tabs --tabs 20 --seconds 60

In: the app, started here; tabs without a browser, each visitor with an address of their own, as
behind a proxy. Each hostile tab asks for a page of a new text of the longest size as soon as the
last one has come. Turns without and with them follow each other. Out: a table of the readers'
times; the 95th percentile with the hostile tabs ÷ without (1.5). Wrong where a reader was shown an
error.
"""

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections.abc import Coroutine
from itertools import count
from urllib.parse import urlencode

from attnviz.pictures.shared.pages import Door
from benchmarks.load import WORDS, Seen, Visitor, day
from benchmarks.measure import Result, report
from benchmarks.stream import Stream
from tests.support.server import serve

READERS, TABS, SECONDS, TURNS = 10, 5, 30.0, 2
PAUSE_S = (0.5, 1.5)
RATIO = 1.5
CHARS = 5990  # what the box for a text takes
HOSTILE = "203.0.113.7"
HOSTILE_PAGES: tuple[Door, ...] = ("overview", "masks")


async def hostile(host: str, seed: int, came: list[float]) -> None:
    """Ask for one page of a long text after the other, until cancelled; note when each came."""
    rng = random.Random(seed)
    stream = await Stream.open(host, came_from=HOSTILE)
    for number in count():
        text = " ".join(rng.choices(WORDS, k=CHARS // 3))[:CHARS]
        stream.query = urlencode({"text": text, "cut": 1})
        await stream.ask(HOSTILE_PAGES[number % len(HOSTILE_PAGES)])
        async for _message in stream.run():
            pass
        came.append(time.monotonic())


class Reader(Visitor):
    """A visitor with an address, who turns the page about once a second."""

    pause_s = PAUSE_S

    async def open(self) -> Stream:
        """A tab that comes from an address of its own."""
        return await Stream.open(self.host, came_from=f"198.51.100.{self.seed % 250 + 1}")


async def turn(host: str, seconds: float, n_tabs: int, first_seed: int) -> tuple[Seen, int]:
    """What the readers saw beside so many hostile tabs, and the pages that these got."""
    seen, came, until = Seen(), list[float](), time.monotonic() + seconds
    attacks = [asyncio.create_task(hostile(host, first_seed + n, came)) for n in range(n_tabs)]
    readers: list[Coroutine[None, None, None]] = [
        Reader(host, first_seed + number, seen).stay(until) for number in range(READERS)
    ]
    await asyncio.gather(*readers)
    for attack in attacks:
        if attack.done():
            attack.result()  # raises what ended it
        attack.cancel()
    return seen, len(came)


def late(times: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(times, n=20)[-1]


def main() -> int:
    """Measure and print; 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks.hostile_tabs", description=__doc__)
    parser.add_argument("--tabs", type=int, default=TABS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--turns", type=int, default=TURNS)
    options = parser.parse_args()
    alone, beside, n_hostile = Seen(), Seen(), 0
    with serve() as url:
        host = url.removeprefix("http://")
        asyncio.run(day([host], -200, 60))  # all pages are loaded
        for number in range(options.turns):
            for seen, n_tabs in ((alone, 0), (beside, options.tabs)):
                more, n = asyncio.run(turn(host, options.seconds, n_tabs, 1000 * (number + 1)))
                seen.actions += more.actions
                seen.wrong += more.wrong
                n_hostile += n
    rows = []
    what = f"beside {options.tabs} hostile tabs with {n_hostile} pages"
    for name, seen in (("alone", alone), (what, beside)):
        times = [ms for _, ms in seen.actions]
        wrong = f"{len(seen.wrong)} errors, first {seen.wrong[:3]}" if seen.wrong else None
        rows.append(Result(f"{name}: {len(times)} pages", tuple(times), "ms", wrong=wrong))
        rows.append(Result(f"{name}: 95th percentile", (late(times),), "ms"))
    ratio = rows[3].median / rows[1].median
    return report([*rows, Result("95th percentile ÷ alone", (ratio,), "×", RATIO)])


if __name__ == "__main__":
    sys.exit(main())
