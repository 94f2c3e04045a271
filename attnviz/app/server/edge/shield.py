"""Checks each request before Streamlit sees it, and adds the headers that browsers ask for.

In: a request or a websocket. Out: the same, passed on; 421 for a host that is not this server's,
413 for more uploaded bytes than one page, or all of them, may leave here, 408 for an upload that
does not arrive in its time, 404 for Streamlit's own
metrics. Hosts are those of Streamlit's setting `server.allowedHosts`; on an address of this machine
alone they are this machine's names, so that a page elsewhere cannot reach the app by a name of its
own.
"""

import asyncio
import os
import re
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from attnviz.app.server.edge import streamlit_patches
from attnviz.models.files import setting
from attnviz.types import MIB

UPLOADS_VARIABLE = "ATTNVIZ_MAX_UPLOADS_MIB"
MAX_UPLOADS_MIB = 1024  # of all pages together: files stay in memory while their page is open
FRAMES_VARIABLE = "ATTNVIZ_FRAME_ANCESTORS"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/([^/]+)")
# programs that watch the server ask for its address, not for a name; numbers need a key besides
WATCHED = re.compile(r".*/(healthz|_stcore/health|(?<!_stcore/)metrics)")
METRICS = re.compile(r".*/_stcore/metrics")
# Addresses from before the rooms had their own, and pages that people call by another name; the
# first page has no path of its own. An empty part of a path is refused: //elsewhere/start would
# lead to another server.
OTHER_NAMES = {
    "start": "",
    "overview": "look",
    "head": "look?open=1",
    "compare": "look?second=1",
    "switches": "change",
    "switchboard": "change",
    "circuit": "change?paths=1",
    "output": "change?answer=1",
    "steps": "compute",
    "masks": "compute?face=masks",
    "geometry": "compute?face=arrows",
    "calculator": "compute?face=numbers",
    "map": "texts",
}
OTHER_NAME = re.compile(rf"((?:/[^/]+)*)/({'|'.join(OTHER_NAMES)})/?")
FULL = "The server keeps too many files; try again later."
OTHER_HOST = "This server has another name. Its operator sets STREAMLIT_SERVER_ALLOWED_HOSTS."
MAX_SESSION_BYTES = 128 * MIB  # two captures of the largest size
MAX_SESSIONS = 1024
# the body of an upload has so long to arrive, and a second more for so many of its bytes
UPLOAD_S, SLOWEST_BYTES_S = 30.0, 64 * 1024
# Streamlit evaluates code that it makes itself, mounts components from blobs and styles inline
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:;"
    " style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:;"
    " media-src 'self' data: blob:; connect-src 'self' ws: wss: data: blob:;"
    " worker-src 'self' blob:; frame-src 'self' data: blob:; object-src 'none'; base-uri 'self';"
    " form-action 'self'; frame-ancestors {frames}"
)


class Shield:
    """The ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._uploads: OrderedDict[str, dict[str, int]] = OrderedDict()
        self._arriving: set[_Body] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is refused, and pass the others on."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._pass_on(scope, receive, _with_headers(scope, send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refusal(scope, receive, _with_headers(scope, send))

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        if not (is_put and UPLOAD.fullmatch(scope["path"])):
            await self.app(scope, receive, send)
            return
        length = int(Headers(scope=scope)["content-length"])
        body = _Body(receive, time.monotonic() + UPLOAD_S + length / SLOWEST_BYTES_S)

        async def receive_more() -> Message:
            message = await body.more()
            if not self._has_room(0):
                raise HTTPException(413, FULL)
            return message

        self._arriving.add(body)
        try:
            with suppress(ClientDisconnect):  # it went in the middle: no error of the server
                await self.app(scope, receive_more, send)
        finally:
            self._arriving.remove(body)

    def _has_room(self, n_bytes: int) -> bool:
        """True if so many bytes may come beside those that are kept or have arrived.

        What is only announced takes no room: a page could announce all that there is.
        """
        arrived = sum(body.n_bytes for body in self._arriving)
        limit = setting(UPLOADS_VARIABLE, MAX_UPLOADS_MIB) * MIB
        return streamlit_patches.uploaded_bytes() + arrived + n_bytes <= limit

    def _refusal(self, scope: Scope) -> Response | None:
        headers, path = Headers(scope=scope), scope["path"]
        if not WATCHED.fullmatch(path) and not host_allowed(headers.get("host")):
            return Response(OTHER_HOST, status_code=421)
        if scope["type"] == "websocket":
            return None
        if METRICS.fullmatch(path):
            return Response(status_code=404)
        if (other := OTHER_NAME.fullmatch(path)) and scope["method"] == "GET":
            query = scope["query_string"].decode("latin-1")
            there = f"{other[1]}/{OTHER_NAMES[other[2]]}"
            joint = "&" if "?" in there else "?"
            return RedirectResponse(f"{there}{joint if query else ''}{query}")
        if upload := UPLOAD.fullmatch(path):
            return self._upload(scope["method"], upload[1], upload[2], headers)
        return None

    def _upload(self, method: str, session: str, file: str, headers: Headers) -> Response | None:
        """The refusal of an upload that is too much for its session; None if it may go on."""
        kept = self._uploads.setdefault(session, {})
        self._uploads.move_to_end(session)
        if len(self._uploads) > MAX_SESSIONS:
            self._uploads.popitem(last=False)
        if method == "DELETE":
            kept.pop(file, None)
        if method != "PUT":
            return None
        length = headers.get("content-length", "")
        if not length.isdecimal():
            return Response(status_code=411)
        others = sum(size for name, size in kept.items() if name != file)
        if others + int(length) > MAX_SESSION_BYTES:
            return Response("Too many files are kept for this page.", status_code=413)
        if not self._has_room(int(length)):
            return Response(FULL, status_code=413)
        kept[file] = int(length)
        return None


@dataclass(eq=False)
class _Body:
    """The body of an upload as it arrives: its bytes so far, and when it must have ended."""

    receive: Receive
    ends: float
    n_bytes: int = 0

    async def more(self) -> Message:
        """The next message; an error of HTTP if it does not come in time."""
        try:
            message = await asyncio.wait_for(self.receive(), self.ends - time.monotonic())
        except TimeoutError as error:
            raise HTTPException(408, "The upload did not arrive in its time.") from error
        self.n_bytes += len(message.get("body", b""))
        return message


def host_allowed(host: str | None) -> bool:
    """True if a request may name this host."""
    allowed = [name.strip().lower() for name in config.get_option("server.allowedHosts") or ()]
    if not allowed:
        if config.get_option("server.address") not in LOCAL_HOSTS:
            return True
        allowed = list(LOCAL_HOSTS)
    try:
        name = (urlsplit(f"//{host or ''}").hostname or "").rstrip(".")
    except ValueError:
        return False
    return any(_matches(name, pattern) for pattern in allowed)


def _matches(name: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return name.endswith(pattern[1:])
    return pattern in ("*", name)


def _with_headers(scope: Scope, send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            frames = os.environ.get(FRAMES_VARIABLE, "").replace(";", " ").strip() or "'self'"
            headers.setdefault("Content-Security-Policy", POLICY.format(frames=frames))
            headers.setdefault("X-Content-Type-Options", "nosniff")
            headers.setdefault("Referrer-Policy", "no-referrer")  # addresses hold visitors' texts
        await send(message)

    return with_headers if scope["type"] == "http" else send
