"""A record of everything a page did: messages, requests outside, complaints, dialogs.

In: a page that is about to open an address. Out: a `Seen`, whose lists fill until `stop` is called.
"""

from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError
from playwright.sync_api import ConsoleMessage, Dialog, Page, Request, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg

LOCAL = ("blob:", "data:")


@dataclass(eq=False)
class Seen:
    """What a page of the app at `url` did.

    `sent` holds the frames that went to the server, but for those by which a page asks, as long as
    a job runs beside it, if the job is over.
    """

    url: str
    sent: list[bytes | str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def problems(self) -> list[str]:
        """Everything that no page of the app should ever do."""
        return [
            *(f"request left this machine: {url}" for url in self.outside),
            *(f"console: {text}" for text in self.complaints),
            *(f"dialog: {text}" for text in self.dialogs),
        ]

    def start(self, page: Page) -> None:
        """Begin to record what this page does."""
        for event, handler in self._handlers().items():
            page.on(event, handler)  # type: ignore[call-overload]

    def stop(self, page: Page) -> None:
        """Record no more of this page."""
        for event, handler in self._handlers().items():
            page.remove_listener(event, handler)

    def _handlers(self) -> dict[str, Any]:
        return {
            "request": self._request,
            "websocket": self._socket,
            "console": self._console,
            "pageerror": self._error,
            "dialog": self._dialog,
        }

    def _request(self, request: Request) -> None:
        if not request.url.startswith((self.url, self._socket_url, *LOCAL)):
            self.outside.append(request.url)

    def _socket(self, socket: WebSocket) -> None:
        if not socket.url.startswith(self._socket_url):
            self.outside.append(socket.url)
        socket.on("framesent", self._frame)

    def _frame(self, frame: bytes | str) -> None:
        if isinstance(frame, str) or not _is_auto_rerun(frame):
            self.sent.append(frame)

    def _console(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        if message.type == "error":
            self.complaints.append(f"{message.text} ({where})")

    def _error(self, error: object) -> None:
        self.complaints.append(str(error))

    def _dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    @property
    def _socket_url(self) -> str:
        return self.url.replace("http", "ws", 1)


def watch(page: Page, url: str) -> Seen:
    """Start the record of a page that is about to open the app at `url`."""
    seen = Seen(url)
    seen.start(page)
    return seen


def _is_auto_rerun(frame: bytes) -> bool:
    """True for the message of a timer; a message with half a letter cannot be read."""
    try:
        return BackMsg.FromString(frame).rerun_script.is_auto_rerun
    except DecodeError:
        return False
