"""A balancer before several servers: a browser stays with the one that its cookie names.

In: the ports of the servers. Out: an address. A connection goes to the server of the cookie
`attnviz`, a number, and to the next one that takes it where that server is gone.
"""

import asyncio
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from tests.support.server import free_port

COOKIE = re.compile(rb"attnviz=(\d+)")


@contextmanager
def balancer(ports: Sequence[int]) -> Iterator[str]:
    """The address of a balancer before the servers at these ports of this machine."""
    loop, port = asyncio.new_event_loop(), free_port()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await _pass_on(reader, writer, ports)
        writer.close()

    server = asyncio.run_coroutine_threadsafe(
        asyncio.start_server(take, "127.0.0.1", port, limit=2**20), loop
    ).result()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        loop.call_soon_threadsafe(server.close)
        asyncio.run_coroutine_threadsafe(_end_others(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ports: Sequence[int]
) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    cookie = COOKIE.search(head)
    first = int(cookie[1]) if cookie else 0
    for turn in range(len(ports)):
        with suppress(ConnectionError):
            theirs = await asyncio.open_connection("127.0.0.1", ports[(first + turn) % len(ports)])
            break
    else:
        return
    theirs[1].write(head)
    directions = [_copy(reader, theirs[1]), _copy(theirs[0], writer)]
    await asyncio.wait(
        [asyncio.ensure_future(copying) for copying in directions],
        return_when=asyncio.FIRST_COMPLETED,
    )
    theirs[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()


async def _end_others() -> None:
    own = asyncio.current_task()
    others = [task for task in asyncio.all_tasks() if task is not own]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
