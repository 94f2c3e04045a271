"""The socket of a class: who hears what, who counts as here, and how it ends."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from attnviz.lessons.classroom.room import Stage
from attnviz.lessons.classroom.rooms import NewRoom, Rooms
from attnviz.ui.server import class_socket

FIRST, SECOND = Stage("block", "order"), Stage("block", "sizes")


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=class_socket.routes())) as running:
        yield running


@pytest.fixture
def room() -> Iterator[tuple[Rooms, NewRoom]]:
    rooms = class_socket.rooms()
    opened = rooms.create(FIRST)
    yield rooms, opened
    if opened.code in rooms._rooms:
        rooms.close(opened.code, opened.key)


def path(opened: NewRoom, heed: str, seat: str = "") -> str:
    return f"/{class_socket.FOLDER}/{opened.code}?heed={heed}&seat={seat}"


def test_a_follower_hears_of_stages_only(client: TestClient, room: tuple[Rooms, NewRoom]) -> None:
    rooms, opened = room
    with client.websocket_connect(path(opened, "stage")) as socket:
        assert socket.receive_text() == "1"
        seat = rooms.join(opened.code)
        rooms.answer(opened.code, seat, FIRST.name, "right")
        rooms.show(opened.code, opened.key, SECOND)
        assert socket.receive_text() == "2"


def test_the_presenter_hears_of_every_answer(
    client: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    rooms, opened = room
    with client.websocket_connect(path(opened, "changes")) as socket:
        before = int(socket.receive_text())
        seat = rooms.join(opened.code)
        assert int(socket.receive_text()) == before + 1
        rooms.answer(opened.code, seat, FIRST.name, "right")
        assert int(socket.receive_text()) == before + 2


def test_a_member_is_here_while_it_listens(client: TestClient, room: tuple[Rooms, NewRoom]) -> None:
    rooms, opened = room
    seat = rooms.join(opened.code)
    with client.websocket_connect(path(opened, "changes")) as watching:
        watching.receive_text()
        with client.websocket_connect(path(opened, "stage", seat)) as socket:
            socket.receive_text()
            assert rooms.tally(opened.code, FIRST.name).present == 1
        watching.receive_text()  # it went
        assert rooms.tally(opened.code, FIRST.name).present == 0


def test_the_end_of_a_class_closes_its_sockets(
    client: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    rooms, opened = room
    with client.websocket_connect(path(opened, "stage")) as socket:
        socket.receive_text()
        rooms.close(opened.code, opened.key)
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_text()
        assert closed.value.code == class_socket.ENDED
    with client.websocket_connect(path(opened, "stage")) as late:
        with pytest.raises(WebSocketDisconnect) as closed:
            late.receive_text()
        assert closed.value.code == class_socket.ENDED


def test_a_page_of_another_server_is_refused(
    client: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    _, opened = room
    foreign = {"origin": "http://elsewhere.example"}
    with pytest.raises(WebSocketDisconnect) as closed:
        with client.websocket_connect(path(opened, "stage"), headers=foreign):
            pass
    assert closed.value.code == class_socket.FOREIGN
