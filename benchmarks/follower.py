"""A page of a class without a browser: its socket, and the cards that it was sent.

In: the address of a running app and a room's code. Out: a `Follower` that joins as a browser does,
by a run of the page, then hears the class's own socket, and notes when which card came. It asks for
a run where a count comes in place of a card.
"""

import asyncio
import gzip
import json
import time
from contextlib import suppress
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import websockets
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz.app.server.class_socket import FOLDER
from attnviz.pictures.class_card import CANVAS
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.pages import Page
from benchmarks.stream import Stream, texts

PAGE: Page = "learn"


class Follower:
    """One member of a class; `seen` has the time at which each stage's card had come."""

    def __init__(self, host: str, code: str) -> None:
        self.host, self.code = host, code
        self.seen: dict[int, float] = {}
        self.titles: set[str] = set()
        self.seat = self._listener = self._fragment = ""
        self._drawn = -1
        self._tasks: list[asyncio.Task[None]] = []

    async def join(self) -> None:
        """Open the page, and return once it has drawn the stage and listens."""
        own, self._drawn = self.seat, -1
        self._page = await Stream.open(self.host, urlencode({"room": self.code}))
        self._tasks = [asyncio.create_task(self._read())]
        await self._page.ask(PAGE)
        while self._drawn < 0:
            await asyncio.sleep(0.01)
        await self._take_back(own)
        listens = asyncio.Event()
        self._tasks.append(asyncio.create_task(self._listen(listens)))
        await listens.wait()

    async def _take_back(self, own: str) -> None:
        """Have the seat that the tab kept, as its listener does; return when the page has it."""
        if own in ("", self.seat):
            return
        kept = {"code": self.code, "heed": "stage", "seat": own}
        await self._page.ask(PAGE, self._fragment, {self._listener: {"kept": kept}})
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
            if message.WhichOneof("type") == "delta":
                self._take(message)

    def _take(self, message: ForwardMsg) -> None:
        component = message.delta.new_element.bidi_component
        if component.component_name == CANVAS.element:
            self._fragment, self._listener = message.delta.fragment_id, component.id
            view = unpack(component.bytes)[0]
            self.seat = str(view["seat"])
            self._note(view["card"], time.monotonic())

    def _note(self, card: dict[str, object], now: float) -> None:
        self._drawn = int(str(card["version"]))
        self.seen.setdefault(self._drawn, now)
        title = card["title"]
        assert isinstance(title, list)
        self.titles.add("".join(span["text"] for span in title))

    async def _listen(self, listens: asyncio.Event) -> None:
        query = urlencode({"heed": "card", "lang": "en", "drawn": self._drawn})
        async with websockets.connect(f"ws://{self.host}/{FOLDER}/{self.code}?{query}") as ear:
            await ear.send(self.seat)
            async for told in texts(ear):
                now = time.monotonic()
                listens.set()
                if isinstance(told, bytes):
                    self._note(_card(told), now)
                elif told.isdecimal() and int(told) != self._drawn:
                    await self._page.ask(PAGE, self._fragment)


@lru_cache(maxsize=4)
def _card(told: bytes) -> dict[str, Any]:
    """A card that was sent, read once for all followers: theirs are as many machines."""
    card: dict[str, Any] = json.loads(gzip.decompress(told))
    return card
