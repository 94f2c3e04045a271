"""Hostile captures and surveys uploaded to a whole server: `python -m benchmarks.hostile_files`.

In: the app, started here; the hostile archives of the tests, capture files with few bytes that name
many numbers, and as many of each kind as `--random` says from the generator. `--cgroup FOLDER`
starts it in a memory control group that was made before, as with a limit of 2 GiB. Each file goes
up by a tab of its own, without a browser, and its page is drawn. Out: a table of the times, and the
memory of the server before and after. Wrong where the server ended, a page showed an error that is
not a sentence of ours, or memory grew by more than 50 MiB.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.cookies import SimpleCookie

from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz.app.server.edge.health import KEY_VARIABLE
from attnviz.pictures.shared.pages import Door
from benchmarks.load import FREED_S, problem_of
from benchmarks.measure import Result, report
from benchmarks.stream import Stream
from benchmarks.tabs import KEY, MIB, gauges
from tests.support import fuzz
from tests.support.server import app_command, free_port, running
from tests.unit.corpus.test_archive import HOSTILE
from tests.unit.files.test_malformed import KINDS, described, description_of

RANDOM = 20
LIMIT_S = 60.0
GROWTH_MIB = 50
FIRST_SEED = 34
UNEXPECTED = re.compile("Something went wrong|encountered an error", re.IGNORECASE)


def files(count: int) -> Iterator[tuple[Door, str, str, bytes]]:
    """The page, the ending, a name and the bytes of each file."""
    for name, data in HOSTILE.items():
        yield "atlas", "npz", name, data
    lines = "\n".join(f"{number:x}" for number in range(4_000_000)).encode()
    yield "atlas", "txt", "millions of lines", lines
    yield "atlas", "txt", "a line of 30 MB", b"a" * 30_000_000
    yield from (("head", "safetensors", *bomb) for bomb in captures())
    for number in range(count):
        rng = random.Random(FIRST_SEED + number)
        yield "atlas", "npz", f"archive {number}", fuzz.hostile_archive(rng)
        yield "head", "safetensors", f"capture {number}", fuzz.hostile_capture(rng)


def captures() -> Iterator[tuple[str, bytes]]:
    """Files whose views name many more numbers than they hold."""
    data = KINDS["grouped"]
    for name, sizes, strides in (
        ("rows that overlap", (1, 1, 39_000, 39_000), (0, 0, 1, 1)),
        ("a million heads", (1, 2**20, 3, 10), (0, 0, 10, 1)),
        ("a billion tokens", (2, 4, 2**30, 10), (0, 0, 0, 1)),
        ("heads and tokens", (1, 5_600, 512, 10), (0, 0, 0, 1)),
    ):
        description = description_of(data)
        for tensor in ("query", "key", "value", "output"):
            view = description["tensors"][f"calls.0.{tensor}"]
            description["tensors"][f"calls.0.{tensor}"] = [view[0], 0, [*sizes], [*strides]]
        yield name, described(data, description)


class Upload:
    """One tab that uploads one file."""

    def __init__(self, url: str) -> None:
        self.url, self.host = url, url.removeprefix("http://")

    async def run(self, page: Door, ending: str, data: bytes) -> str:
        """What the page said of the file; raises `TimeoutError` if it does not end."""
        stream = await Stream.open(self.host)
        try:
            widget = ""
            await stream.ask(page)
            async for message in stream.run():
                if message.WhichOneof("type") == "new_session":
                    session = message.new_session.initialize.session_id
                if message.WhichOneof("type") == "delta":
                    element = message.delta.new_element
                    if element.WhichOneof("type") == "file_uploader":
                        if f".{ending}" in element.file_uploader.type:
                            widget = element.file_uploader.id
            assert widget, f"no uploader for .{ending} on {page}"
            return await self._upload(stream, page, session, widget, f"x.{ending}", data)
        finally:
            await stream.close()

    async def _upload(
        self, stream: Stream, page: Door, session: str, widget: str, name: str, data: bytes
    ) -> str:
        asked = BackMsg()
        asked.file_urls_request.request_id = "1"
        asked.file_urls_request.file_names.append(name)
        asked.file_urls_request.session_id = session
        await stream.send(asked)
        async for message in stream.messages():
            if message.WhichOneof("type") == "file_urls_response":
                break
        (place,) = message.file_urls_response.file_urls
        await asyncio.to_thread(self._put, place.upload_url, name, data)
        rerun = stream.rerun(page)
        state = rerun.rerun_script.widget_states.widgets.add(id=widget)
        file = state.file_uploader_state_value.uploaded_file_info.add()
        file.name, file.size, file.file_id = name, len(data), place.file_id
        file.file_urls.CopyFrom(place)
        await stream.send(rerun)
        said = []
        async for message in stream.run():
            if message.WhichOneof("type") == "delta":
                said.append(problem_of(message.delta.new_element) or "")
        return " ".join(filter(None, said))

    def _put(self, place: str, name: str, data: bytes) -> None:
        with urllib.request.urlopen(f"{self.url}/_stcore/health") as answer:
            cookies = SimpleCookie("; ".join(answer.headers.get_all("Set-Cookie") or ()))
        token = cookies["_streamlit_xsrf"].value if "_streamlit_xsrf" in cookies else ""
        edge = "attnviz-edge"
        body = (
            f'--{edge}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode() + data + f"\r\n--{edge}--\r\n".encode()  # fmt: skip
        headers = {
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "Cookie": f"_streamlit_xsrf={token}",
            "X-Xsrftoken": token,
        }
        urllib.request.urlopen(
            urllib.request.Request(f"{self.url}{place}", body, headers, method="PUT")
        ).close()


def main() -> int:
    """Upload and print; 1 if something was wrong."""
    parser = argparse.ArgumentParser(prog="benchmarks.hostile_files", description=__doc__)
    parser.add_argument("--random", type=int, default=RANDOM)
    parser.add_argument("--cgroup")
    options = parser.parse_args()
    port = free_port()
    command = app_command(port)
    if options.cgroup:
        enter = f'echo $$ > "{options.cgroup}/cgroup.procs" && exec "$@"'
        command = ["bash", "-c", enter, "attnviz", *command]
    times, wrong, said_of = list[float](), list[str](), dict[str, str]()
    with running(port, command, env={KEY_VARIABLE: KEY}) as app:
        before = 0.0
        for number, (page, ending, name, data) in enumerate(files(options.random)):
            start = time.monotonic()
            try:
                work = Upload(app.url).run(page, ending, data)
                said = asyncio.run(asyncio.wait_for(work, LIMIT_S))
            except (OSError, TimeoutError, AssertionError) as error:
                said = ""
                wrong.append(f"{name}: {error or type(error).__name__}")
            times.append(1000 * (time.monotonic() - start))
            said_of[name] = said
            if UNEXPECTED.search(said):
                wrong.append(f"{name}: {said}")
            if app.process.poll() is not None:
                wrong.append(f"{name}: the server ended with {app.process.returncode}")
                break
            if number == 0:
                before = gauges(app.url)["memory_bytes"] / MIB
        after = float("nan")
        with suppress(OSError):
            time.sleep(FREED_S)
            after = gauges(app.url)["memory_bytes"] / MIB
    refused = sum(map(bool, said_of.values()))
    sys.stderr.write(json.dumps(said_of, indent=1) + "\n")
    grown = None if after - before <= GROWTH_MIB else f"{after - before:.0f} MiB more"
    return report(
        [
            Result(
                f"{len(times)} files, {refused} refused",
                tuple(times),
                "ms",
                wrong="; ".join(wrong[:5]) or None,
            ),
            Result("the slowest", (max(times),), "ms"),
            Result("memory after the first file", (before,), "MiB"),
            Result(f"{FREED_S} s after the last", (after,), "MiB", wrong=grown),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
