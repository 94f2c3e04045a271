"""A server that has just been started: `python -m benchmarks.start`.

In: the command `attnviz app`, started here, as often as `--rounds` says. Out: a table of the time,
and the processor time of the server, from its start until it listens, until the first picture of a
visitor who came at once has been sent, and until `/healthz` says yes; and how long the first and
the second visitor of a page wait after that, each with a text of their own. No browser: what it
draws comes after. Wrong where the first picture is not the stage of Start.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from attnviz.pictures.shared.pages import Page, path
from attnviz.pictures.stage import CANVAS
from benchmarks.load import problem_of
from benchmarks.measure import Result, report
from benchmarks.stream import Stream
from tests.support.server import HEALTH, ROOT, free_port, stop

ROUNDS = 3
FIRST_PICTURE_S = 5.0
PAGES: tuple[Page, ...] = ("overview", "switches", "steps", "learn")
TEXTS = ("The first visitor reads a book.", "The second visitor reads a map.")
POLL_S = 0.02
CLOCK = os.sysconf("SC_CLK_TCK")
Samples = defaultdict[str, list[float]]


def main() -> int:
    """Measure and print; 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    samples: Samples = defaultdict(list)
    for _ in range(options.rounds):
        one_start(samples)
    budgets = {"first picture": FIRST_PICTURE_S}
    return report(
        [Result(name, tuple(times), "s", budgets.get(name)) for name, times in samples.items()]
    )


def one_start(samples: Samples) -> None:
    """Start a server, be its first visitors, and end it."""
    port = free_port()
    command = [sys.executable, "-m", "attnviz", "app", "--port", str(port)]
    begun = time.monotonic()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    host = f"127.0.0.1:{port}"

    def note(name: str) -> None:
        samples[name].append(time.monotonic() - begun)
        samples[f"{name}, processor"].append(processor_s(process.pid))

    try:
        wait_for(lambda: status(host, HEALTH) == 200)
        note("listens")
        asyncio.run(first_picture(host, lambda: note("first picture")))
        wait_for(lambda: status(host, "/healthz") == 200)
        note("healthz says yes")
        for page in PAGES:
            for name, text in zip(("first", "second"), TEXTS, strict=True):
                waited = asyncio.run(one_page(host, page, text))
                samples[f"/{path(page)}, the {name} visitor"].append(waited)
    finally:
        stop(process)


async def first_picture(host: str, seen: Callable[[], None]) -> None:
    """Open Start, and tell when the stage comes."""
    stream = await Stream.open(host)
    await stream.ask("start")
    async for message in stream.messages():
        kind = message.WhichOneof("type")
        element = message.delta.new_element if kind == "delta" else None
        assert element is None or not problem_of(element), problem_of(element)
        if element is not None and element.bidi_component.component_name == CANVAS.element:
            seen()
            break
        assert kind != "script_finished", "the first page has no stage"
    await stream.close()


async def one_page(host: str, page: Page, text: str) -> float:
    """The seconds until a page has been drawn in a new tab."""
    begun = time.monotonic()
    stream = await Stream.open(host, urlencode({"text": text}))
    await stream.ask(page)
    async for message in stream.run():
        kind = message.WhichOneof("type")
        element = message.delta.new_element if kind == "delta" else None
        assert element is None or not problem_of(element), problem_of(element)
    await stream.close()
    return time.monotonic() - begun


def status(host: str, path: str) -> int:
    """The status of an answer; 0 for none."""
    try:
        with urllib.request.urlopen(f"http://{host}{path}", timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def wait_for(holds: Callable[[], bool]) -> None:
    """Return once that holds."""
    while not holds():
        time.sleep(POLL_S)


def processor_s(pid: int) -> float:
    """The processor time of a process so far; of Linux."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / CLOCK


if __name__ == "__main__":
    sys.exit(main())
