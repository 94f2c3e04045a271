"""A page of the app without a browser: its socket, the runs it asks for, and what it was sent.

In: the address of a running app and a room's code. Out: a `Follower` that does what a browser does
with the messages of Streamlit and with the class's own socket, and notes when which card came.
"""

import asyncio
import time
from contextlib import suppress
from urllib.parse import urlencode

import websockets
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz.app.server.class_socket import FOLDER
from attnviz.pictures.class_messages import NAME
from attnviz.pictures.shared.buffer import unpack
from benchmarks.stream import Stream, texts

PAGE = "learn"
AGAIN_S = 4.0  # AGAIN_MS of the listener


class Follower:
    """One member of a class; `seen` has the time at which each stage was wholly drawn."""

    def __init__(self, host: str, code: str) -> None:
        self.host, self.code = host, code
        self.seen: dict[int, float] = {}
        self.fragment = self.seat = self._listener = ""
        self.headings: set[str] = set()
        self._drawn = self._told = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def join(self) -> None:
        """Open the page, and return once it has drawn the stage and listens."""
        self._page = await Stream.open(self.host, urlencode({"room": self.code}))
        self._tasks = [asyncio.create_task(self._read())]
        await self._page.ask(PAGE)
        own = self.seat
        while not (self.seen and self.fragment and self.seat):
            await asyncio.sleep(0.01)
        await self._take_back(own)
        self._told = self._drawn
        self._tasks += [asyncio.create_task(work()) for work in (self._listen, self._insist)]

    async def _take_back(self, own: str) -> None:
        """Have the seat that the tab kept, as its listener does; return when the page has it."""
        if own in ("", self.seat):
            return
        kept = {"code": self.code, "heed": "stage", "seat": own}
        await self._page.ask(PAGE, self.fragment, {self._listener: {"kept": kept}})
        while self.seat != own:
            await asyncio.sleep(0.01)

    async def drop(self) -> None:
        """Be gone, as when a laptop is closed."""
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._page.close()

    async def _read(self) -> None:
        async for message in self._page.messages():
            kind = message.WhichOneof("type")
            if kind == "delta":
                self._take(message)
            elif kind == "script_finished" and self._drawn:
                self.seen.setdefault(self._drawn, time.monotonic())

    def _take(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        if element.WhichOneof("type") == "heading":
            self.headings.add(element.heading.body)
        component = element.bidi_component
        if component.component_name == NAME:
            self.fragment, self._listener = message.delta.fragment_id, component.id
            header = unpack(component.bytes)[0]
            self._drawn, self.seat = int(header["drawn"]), str(header["seat"])

    async def _listen(self) -> None:
        query = urlencode({"heed": "stage"})
        async with websockets.connect(f"ws://{self.host}/{FOLDER}/{self.code}?{query}") as ear:
            await ear.send(self.seat)
            async for told in texts(ear):
                if int(told) != self._drawn:
                    await self._page.ask(PAGE, self.fragment)
                    self._told = int(told)

    async def _insist(self) -> None:
        """Ask again for a stage that was told of and has not come, as a page does."""
        while True:
            told = self._told
            await asyncio.sleep(AGAIN_S)
            if told == self._told != self._drawn:
                await self._page.ask(PAGE, self.fragment)
