"""The websocket that tells the pages of a class that something changed.

In: a room's code, what a page heeds ("stage" for followers, "changes" for the presenter, "wall" for
the projected page, which shows how many answered), and as the first message the seat of a member or
the presenter's key. Out: a count, as text, each time it grows; the page then asks for a run. No
content travels here. A member is present while one of their pages listens: each holds a lease that
it renews. Who has neither seat nor key hears nothing, and takes no place from a class.

Rooms live in the memory of this process, or with ATTNVIZ_REDIS in a store that several processes
share. While that store is out of reach, sockets are closed; pages say so and try again.

A socket rather than polling, by measurement (thirty followers, two cores): 0.004 cores while
nothing happens against 0.11 for a run every half second, and 0.14 s against 0.49 s to reach them.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from urllib.parse import urlsplit

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from attnviz.errors import AttnVizError, require_package
from attnviz.teach.classroom.room import Counts
from attnviz.teach.classroom.rooms import Rooms
from attnviz.teach.classroom.store import out_of_reach, unknown_room

FOLDER = "class"
REDIS_VARIABLE = "ATTNVIZ_REDIS"
ENDED = 4404  # close code: the room that it listened to has ended
FOREIGN = 1008
NO_SEAT, FULL = 4403, 4429  # the page joins again; it tries again later
HELLO_S = 5.0
REFUSED_S = 0.5  # until a refusal is sent: who asks without end asks twice a second
MAX_GREETING = 512  # sockets that have not said yet who they are
MAX_HELLO_CHARS = 100
RENEW_S = 20.0  # of a lease of 45 s; a room that ends by age notifies nobody


# an unknown code reads like an unknown seat: codes are not to be tried out here
REFUSED = {"room_unknown": NO_SEAT, "no_seat": NO_SEAT}
BROKEN_OFF = {"room_unknown": ENDED, "no_seat": NO_SEAT}

_greeting: set[WebSocket] = set()


@cache
def rooms() -> Rooms:
    """The rooms of this server."""
    url = os.environ.get(REDIS_VARIABLE, "")
    if not url:
        return Rooms()
    require_package("redis", REDIS_VARIABLE, "redis")
    from attnviz.teach.classroom.redis_store import redis_store

    return Rooms(redis_store(url))


def routes() -> list[BaseRoute]:
    """The routes that the launcher adds to the app, also where the app lies below a folder.

    A store that cannot be is refused here.
    """
    rooms()
    path = f"/{FOLDER}/{{code}}"
    return [WebSocketRoute(path, listen), WebSocketRoute(f"/{{base:path}}{path}", listen)]


async def listen(socket: WebSocket) -> None:
    """One page's socket, until the page goes or the room ends."""
    if not _same_origin(socket):
        await socket.close(FOREIGN)
        return
    code = socket.path_params["code"]
    if (seat := await _greeted(socket)) is None:
        return
    leads = socket.query_params.get("heed") not in ("stage", "wall")
    try:
        lease = await asyncio.to_thread(rooms().listen, code, seat, leads=leads)
    except AttnVizError as error:
        await asyncio.sleep(REFUSED_S)
        await _close(socket, REFUSED.get(error.code, FULL))
        return
    try:
        await _send_counts(socket, code, partial(rooms().renew, code, seat, lease))
    except AttnVizError as error:
        await _close(socket, BROKEN_OFF.get(error.code, FULL))
    finally:  # not awaited: the server may cancel this task once the page has gone
        asyncio.get_running_loop().run_in_executor(None, _leave, code, seat, lease)


def _leave(code: str, seat: str, lease: str) -> None:
    with suppress(AttnVizError):
        rooms().leave(code, seat, lease)


async def _close(socket: WebSocket, code: int) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.close(code)


async def _greeted(socket: WebSocket) -> str | None:
    """The seat or key that the page sends first; None if the socket was closed instead."""
    if len(_greeting) >= MAX_GREETING:
        await socket.close(FULL)
        return None
    await socket.accept()
    _greeting.add(socket)
    try:
        hello = await asyncio.wait_for(socket.receive_text(), HELLO_S)
        return hello[:MAX_HELLO_CHARS]
    except TimeoutError:
        await socket.close(NO_SEAT)
    except (WebSocketDisconnect, RuntimeError, KeyError):
        pass
    finally:
        _greeting.discard(socket)
    return None


class _News:
    """The latest counts of a room, brought from other threads."""

    def __init__(self) -> None:
        self._loop, self._came = asyncio.get_running_loop(), asyncio.Event()
        self._counts: Counts | None = None
        self._is_lost = False

    def tell(self, counts: Counts | None) -> None:
        """Take counts, or None for a store that is out of reach; from any thread."""
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self.take, counts)

    def take(self, counts: Counts | None) -> None:
        """Take counts in the thread of the socket; older ones that come late are left."""
        if counts is None:
            self._is_lost = True
        elif self._counts is None or counts.changes >= self._counts.changes:
            self._counts = counts
        self._came.set()

    async def wait(self) -> None:
        """Return when something has come."""
        await self._came.wait()
        self._came.clear()

    def counts(self, code: str) -> Counts:
        """The latest counts; `AttnVizError` if the room has ended or is out of reach."""
        if self._is_lost or self._counts is None:
            raise out_of_reach()
        if self._counts.ended:
            raise unknown_room(code)
        return self._counts


async def _send_counts(socket: WebSocket, code: str, renew: Callable[[], Counts]) -> None:
    """Send the count that the page heeds whenever it changes, and renew its lease."""
    news, loop = _News(), asyncio.get_running_loop()
    by_stage = socket.query_params.get("heed") == "stage"
    stop = await asyncio.to_thread(rooms().watch, code, news.tell)
    closed, sent, renewal = asyncio.create_task(_closed(socket)), -1, loop.time()
    try:
        while not closed.done():
            if loop.time() >= renewal:
                news.take(await asyncio.to_thread(renew))
                renewal = loop.time() + RENEW_S
            counts = news.counts(code)
            if (count := counts.stage if by_stage else counts.changes) != sent:
                sent = count
                await socket.send_text(str(sent))
            waiting = asyncio.create_task(news.wait())
            await asyncio.wait(
                {closed, waiting},
                timeout=max(renewal - loop.time(), 0.0),
                return_when=asyncio.FIRST_COMPLETED,
            )
            waiting.cancel()
    except (WebSocketDisconnect, RuntimeError):  # the page went while it was written to
        return
    finally:
        stop()
        closed.cancel()


async def _closed(socket: WebSocket) -> None:
    """Return when the page has closed its socket; what it sends is ignored."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _same_origin(socket: WebSocket) -> bool:
    """True if the page came from this server; a client without an origin is not a browser."""
    origin = socket.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == socket.headers.get("host")
