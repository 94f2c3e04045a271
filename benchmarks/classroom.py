"""A class: how long until a change of the presenter is on every follower's page.

    python -m benchmarks.classroom --followers 200
    python -m benchmarks.classroom --followers 200 --processes 2

In: the app, started here; a presenter in Chromium, followers as raw sockets in a thread of their
own, and one more in Chromium, who comes last and so is told last. Each change is a click on "Next"
in the presenter's page; its time ends when the bytes of the new card have come to a follower, and
for the last one when its page has painted a frame with the card. With two processes, half of the
followers are on each, and the class lives in a Redis that is started here. One follower drops and
comes back. With `--flood 60` so many strangers without a seat ask for the class's news without end
meanwhile. Checked: every follower got the card's title, who came back is in its seat and counted
once. Out: one table, with the machine's load.
"""

import argparse
import asyncio
import re
import statistics
import sys
import threading
import time
from collections.abc import Coroutine, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import websockets
from playwright.sync_api import Page
from websockets.exceptions import WebSocketException

from attnviz.app.server.class_socket import FOLDER, REDIS_VARIABLE
from attnviz.teach.lessons.cards.texts import lesson_texts
from benchmarks.follower import Follower
from benchmarks.measure import Result, report
from tests.support.browser import chromium, settle
from tests.support.redis_server import redis_server
from tests.support.server import serve

FOLLOWERS, CHANGES = 30, 10
BUDGET_MS = 1000
LIMIT_S = 20.0
LESSON = "block"
CODE = re.compile(r"[2-9A-Z]{3}-[2-9A-Z]{3}")


# the time of the first frame after each card was put into the page, by the card's version
NOTE_FRAMES = """(card) => {
    const frames = (window.attnvizFrames = {});
    new MutationObserver(() => {
        const version = card.dataset.version;
        requestAnimationFrame(() => setTimeout(() => (frames[version] ??= Date.now()), 0));
    }).observe(card, { attributes: true, attributeFilter: ["data-version"] });
}"""


class Class:
    """Followers, and the thread that reads their sockets."""

    def __init__(self, urls: Sequence[str], code: str, count: int) -> None:
        hosts = [url.removeprefix("http://") for url in urls]
        self.followers = [Follower(hosts[number % len(hosts)], code) for number in range(count)]
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the followers' thread."""
        asyncio.run_coroutine_threadsafe(work, self._loop).result(LIMIT_S)

    def flood(self, count: int) -> None:
        """Have so many strangers ask for the news of the class until the program ends."""
        one = self.followers[0]
        for _ in range(count):
            asyncio.run_coroutine_threadsafe(_ask_without_seat(one.host, one.code), self._loop)

    def arrived(self, stage: int) -> list[float]:
        """When this stage was on each page; waits for the last."""
        deadline = time.monotonic() + LIMIT_S
        while not all(stage in each.seen for each in self.followers):
            assert time.monotonic() < deadline, f"stage {stage} did not reach everyone"
            time.sleep(0.005)
        return sorted(each.seen[stage] for each in self.followers)


class Pupil:
    """A follower in Chromium."""

    def __init__(self, page: Page, url: str, code: str) -> None:
        self._page = page
        page.goto(f"{url}/learn?room={code}")
        page.locator('.class-card[data-heard="live"]').wait_for()
        page.locator(".class-card").evaluate(NOTE_FRAMES)

    def drawn(self, stage: int) -> float:
        """When a frame with this stage's card had been painted, on the clock of `time.time`."""
        came = self._page.wait_for_function(
            "(stage) => window.attnvizFrames[stage]", arg=stage, timeout=1000 * LIMIT_S
        )
        return float(came.json_value()) / 1000


async def _ask_without_seat(host: str, code: str) -> None:
    """Ask with a seat that nobody has, and again once that was refused."""
    while True:
        with suppress(OSError, WebSocketException):
            async with websockets.connect(f"ws://{host}/{FOLDER}/{code}?heed=stage") as socket:
                await socket.send("nobody's seat")
                async for _ in socket:
                    raise AssertionError("a stranger was told of the class")


def open_class(page: Page, url: str) -> str:
    """Open a class in the presenter's page; its code."""
    page.goto(f"{url}/learn?lesson={LESSON}")
    settle(page, canvases=False)
    page.get_by_role("button", name="Teach this lesson").click()
    page.get_by_role("button", name="Open a class").click()
    return page.get_by_role("heading", name=CODE).inner_text()


def turn(page: Page, back: bool) -> float:
    """Turn to another card, and wait until the presenter's own page has it; when the click came."""
    settle(page, canvases=False)
    start = time.monotonic()
    page.get_by_role("button", name="← Previous" if back else "Next →").click()
    return start


def measure(count: int, changes: int, n_strangers: int, n_processes: int) -> list[Result]:
    """The rows of the table."""
    with ExitStack() as running:
        store = {}
        if n_processes > 1:
            store = {REDIS_VARIABLE: running.enter_context(redis_server())}
        urls = [running.enter_context(serve(env=store)) for _ in range(n_processes)]
        browser = running.enter_context(chromium())
        page = browser.new_context(locale="en").new_page()
        code = open_class(page, urls[0])
        lesson = Class(urls, code, count - 1)
        for follower in lesson.followers:
            lesson.do(follower.join())
        pupil = Pupil(browser.new_context(locale="en").new_page(), urls[-1], code)
        page.get_by_text(f"{count} here").first.wait_for()
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("button", name="Begin").wait_for(state="detached")
        lesson.flood(n_strangers)
        first = max(lesson.followers[0].seen)
        every, last, drawn = list[float](), list[float](), list[float]()
        for number in range(changes):
            ahead_s = time.time() - time.monotonic()  # of one clock before the other
            start, stage = turn(page, back=number % 2 == 1), first + number + 1
            times = [1000 * (at - start) for at in lesson.arrived(stage)]
            every += times
            last.append(times[-1])
            drawn.append(1000 * (pupil.drawn(stage) - ahead_s - start))
        wrong = _titles(lesson) or _returning(lesson, page, count, first + changes)
    return [
        Result(f"{count} followers, half of them (p50)", (statistics.median(every),), "ms"),
        Result("95 of 100 (p95)", (statistics.quantiles(every, n=20)[-1],), "ms"),
        Result("the last of each change, median", tuple(last), "ms", BUDGET_MS, wrong),
        Result("the last of all changes", (max(last),), "ms", BUDGET_MS),
        Result("drawn on the page that came last, median", tuple(drawn), "ms", BUDGET_MS),
        Result("drawn there, the slowest change", (max(drawn),), "ms", BUDGET_MS),
    ]


def _titles(lesson: Class) -> str | None:
    """What is missing on the followers' pages; None when both cards came to all."""
    texts = lesson_texts(LESSON, "en")
    wanted = {texts.of(name, "title") for name in list(texts.cards)[:2]}
    lost = [each for each in lesson.followers if not wanted <= each.titles]
    return f"{len(lost)} followers did not get {sorted(wanted)}" if lost else None


def _returning(lesson: Class, page: Page, count: int, stage: int) -> str | None:
    """One drops and comes back: in its seat, at the present card, counted once."""
    one = lesson.followers[0]
    seat = one.seat
    lesson.do(one.drop())
    page.get_by_text(f"{count - 1} here").wait_for()
    one.seen.clear()
    lesson.do(one.join())
    page.get_by_text(f"{count} here").first.wait_for()
    if one.seat != seat:
        return "who came back has another seat"
    return None if stage in one.seen else f"who came back is at {sorted(one.seen)}, not {stage}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(prog="benchmarks.classroom", description=__doc__)
    parser.add_argument("--followers", type=int, default=FOLLOWERS)
    parser.add_argument("--changes", type=int, default=CHANGES)
    parser.add_argument("--flood", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args(arguments)
    results = measure(options.followers, options.changes, options.flood, options.processes)
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
