"""A tab of the app without a browser: the socket of Streamlit, and the messages of its runs.

In: the address of a running app. Out: a `Stream` that asks for runs and yields what comes, as a
browser would receive it. Nothing is drawn: what the server does for a tab is all there, what the
browser does is not.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from urllib.parse import parse_qsl, urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from attnviz.app.session import routes
from attnviz.pictures.shared.pages import BEHIND, Door, path


class Stream:
    """One tab; `query` is its address's, which the server may change."""

    def __init__(self, socket: ClientConnection, query: str) -> None:
        self._socket, self.query = socket, query

    @classmethod
    async def open(cls, host: str, query: str = "", came_from: str = "") -> "Stream":
        """A tab that has connected and asked for nothing yet; a proxy would say `came_from`."""
        socket = await websockets.connect(
            f"ws://{host}/_stcore/stream",
            subprotocols=["streamlit"],
            additional_headers={"X-Forwarded-For": came_from} if came_from else None,
            max_size=None,
        )
        return cls(socket, query)

    async def ask(
        self, door: Door, fragment: str = "", states: Mapping[str, object] | None = None
    ) -> None:
        """Ask for a run of a page, or of one of its fragments; `states` are those of components.

        A page is asked for as by Back and Forward: for nothing else a tab reads its address anew.
        """
        message = self.rerun(door)
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_history_navigation = not fragment
        for name, state in (states or {}).items():
            message.rerun_script.widget_states.widgets.add(id=name, json_value=json.dumps(state))
        await self.send(message)

    def rerun(self, door: Door) -> BackMsg:
        """The message that asks for what is behind a door; the parameters of a face are added.

        Streamlit computes the start page for a path that it does not know, which leads on to
        another: an old address is led to its page by the server before a browser asks for it.
        """
        page, given = routes.page(door), BEHIND[door][1] if door in BEHIND else {}
        self.query = urlencode(dict(parse_qsl(self.query, keep_blank_values=True)) | given)
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = "" if page == routes.DEFAULT else path(page)
        return message

    async def send(self, message: BackMsg) -> None:
        """Send a message as a browser does."""
        await self._socket.send(message.SerializeToString())

    async def messages(self) -> AsyncIterator[ForwardMsg]:
        """What comes, until either side closes."""
        async for raw in texts(self._socket):
            message = ForwardMsg.FromString(raw)
            if message.WhichOneof("type") == "page_info_changed":
                self.query = message.page_info_changed.query_string
            yield message

    async def run(self) -> AsyncIterator[ForwardMsg]:
        """The messages of a run to its end; `ConnectionError` if the server closes before.

        A run that ended because it begins anew has not ended.
        """
        early = ForwardMsg.FINISHED_EARLY_FOR_RERUN
        async for message in self.messages():
            yield message
            if message.WhichOneof("type") == "script_finished" and message.script_finished != early:
                return
        raise ConnectionError("the server closed the tab")

    async def close(self) -> None:
        """Close the tab."""
        await self._socket.close()


async def texts(socket: ClientConnection) -> AsyncIterator[str | bytes]:
    """What comes by a socket, until either side closes."""
    with suppress(ConnectionClosed):
        async for message in socket:
            yield message
