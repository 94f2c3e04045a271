"""The socket of a class: who hears what, who counts as here, and how it ends."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from attnviz.app.server import class_socket
from attnviz.app.server.class_socket import Prepared
from attnviz.errors import AttnVizError
from attnviz.i18n import Language
from attnviz.teach.classroom.rooms import NewRoom, Rooms
from attnviz.teach.classroom.stage import Stage
from attnviz.teach.classroom.store import Watcher
from tests.support.waiting import expect_equal

FIRST, SECOND = Stage("block", "order"), Stage("block", "sizes")


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(class_socket, "REFUSED_S", 0.0)
    with TestClient(Starlette(routes=class_socket.routes())) as running:
        yield running


@pytest.fixture
def room() -> Iterator[tuple[Rooms, NewRoom]]:
    rooms = class_socket.rooms()
    opened = rooms.create(FIRST)
    yield rooms, opened
    with suppress(AttnVizError):  # a test may have closed it
        rooms.close(opened.code, opened.key)


@contextmanager
def listening(
    client: TestClient, opened: NewRoom, heed: str, seat: str
) -> Iterator[WebSocketTestSession]:
    """A page's socket that has sent its seat, or the presenter's key."""
    with client.websocket_connect(f"/{class_socket.FOLDER}/{opened.code}?heed={heed}") as socket:
        socket.send_text(seat)
        yield socket


def refusal(client: TestClient, opened: NewRoom, heed: str, seat: str) -> int:
    """The code with which the server closes such a socket."""
    with listening(client, opened, heed, seat) as socket:
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_text()
    return closed.value.code


def test_a_class_below_a_folder_is_heard(client: TestClient, room: tuple[Rooms, NewRoom]) -> None:
    rooms, opened = room
    path = f"/courses/attn/{class_socket.FOLDER}/{opened.code}?heed=stage"
    with client.websocket_connect(path) as socket:
        socket.send_text(rooms.join(opened.code))
        assert socket.receive_text() == "1"


def test_a_follower_hears_of_stages_only(client: TestClient, room: tuple[Rooms, NewRoom]) -> None:
    rooms, opened = room
    seat = rooms.join(opened.code)
    with listening(client, opened, "stage", seat) as socket:
        assert socket.receive_text() == "1"
        rooms.answer(opened.code, seat, FIRST.name, "right")
        rooms.show(opened.code, opened.key, SECOND)
        assert socket.receive_text() == "2"


def test_the_presenter_hears_of_every_answer(
    client: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    rooms, opened = room
    with listening(client, opened, "changes", opened.key) as socket:
        before = int(socket.receive_text())
        seat = rooms.join(opened.code)
        assert int(socket.receive_text()) == before + 1
        rooms.answer(opened.code, seat, FIRST.name, "right")
        assert int(socket.receive_text()) == before + 2


def test_a_member_is_here_while_it_listens(client: TestClient, room: tuple[Rooms, NewRoom]) -> None:
    rooms, opened = room
    seat = rooms.join(opened.code)
    with listening(client, opened, "changes", opened.key) as watching:
        watching.receive_text()
        with listening(client, opened, "stage", seat) as socket:
            socket.receive_text()
            assert rooms.tally(opened.code, FIRST.name).present == 1
        watching.receive_text()  # it went
        assert rooms.tally(opened.code, FIRST.name).present == 0


def test_the_end_of_a_class_closes_its_sockets(
    client: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    rooms, opened = room
    seat = rooms.join(opened.code)
    with listening(client, opened, "stage", seat) as socket:
        socket.receive_text()
        rooms.close(opened.code, opened.key)
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_text()
        assert closed.value.code == class_socket.ENDED
    # codes cannot be tried out here: an unknown one reads like an unknown seat
    assert refusal(client, opened, "stage", seat) == class_socket.NO_SEAT


def test_sockets_without_a_seat_take_no_place_from_a_class(
    client: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    rooms, opened = room
    seat = rooms.join(opened.code)
    for _ in range(20):
        assert refusal(client, opened, "stage", "not-a-seat") == class_socket.NO_SEAT
        assert refusal(client, opened, "changes", seat) == class_socket.NO_SEAT
    with ExitStack() as pages:
        for _ in range(rooms.bounds.pages):
            page = pages.enter_context(listening(client, opened, "stage", seat))
            assert page.receive_text() == "1"
        assert refusal(client, opened, "stage", seat) == class_socket.FULL
        with listening(client, opened, "changes", opened.key) as presenter:
            assert int(presenter.receive_text()) > 0
    expect_equal(lambda: rooms.tally(opened.code, FIRST.name).present, 0)


def test_who_is_refused_waits_for_it(
    client: TestClient, room: tuple[Rooms, NewRoom], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_socket, "REFUSED_S", 0.1)
    start = time.monotonic()
    assert refusal(client, room[1], "stage", "not-a-seat") == class_socket.NO_SEAT
    assert time.monotonic() - start >= 0.1


def test_a_socket_that_says_nothing_is_closed(
    client: TestClient, room: tuple[Rooms, NewRoom], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, opened = room
    monkeypatch.setattr(class_socket, "HELLO_S", 0.05)
    with client.websocket_connect(f"/{class_socket.FOLDER}/{opened.code}?heed=stage") as socket:
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_text()
    assert closed.value.code == class_socket.NO_SEAT
    assert not class_socket._greeting


def test_a_page_of_another_server_is_refused(
    client: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    _, opened = room
    foreign = {"origin": "http://elsewhere.example"}
    with pytest.raises(WebSocketDisconnect) as closed:
        with client.websocket_connect(f"/class/{opened.code}", headers=foreign):
            pass
    assert closed.value.code == class_socket.FOREIGN


def prepared(code: str, lang: Language) -> Prepared | None:
    """A card that names its stage and language; none of another page, an error of "broken"."""
    rooms = class_socket.rooms()
    stage = rooms.stage(code)
    if stage.card == "broken":
        raise AttnVizError("cannot be built", code="broken")
    card = f"{lang} {stage.card} {stage.version}".encode()
    ready = Prepared(card, rooms.labels(code, stage.name), stage.version)
    return ready if stage.page == "learn" else None


@pytest.fixture
def with_cards() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=class_socket.routes(prepared))) as running:
        yield running


@contextmanager
def showing(client: TestClient, opened: NewRoom, query: str) -> Iterator[WebSocketTestSession]:
    seat = class_socket.rooms().join(opened.code)
    path = f"/{class_socket.FOLDER}/{opened.code}?{query}"
    with client.websocket_connect(path) as socket:
        socket.send_text(seat)
        yield socket


def test_a_page_that_shows_a_card_is_sent_the_next_one(
    with_cards: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    rooms, opened = room
    with showing(with_cards, opened, "heed=card&lang=ja&drawn=1") as socket:
        assert socket.receive_text() == "1", "what it has drawn is not sent again"
        rooms.show(opened.code, opened.key, SECOND)
        assert socket.receive_bytes() == b"ja sizes 2"
        rooms.show(opened.code, opened.key, replace(SECOND, page="overview"))
        assert socket.receive_text() == "3", "the page has to run"
        rooms.show(opened.code, opened.key, replace(SECOND, card="broken"))
        assert socket.receive_text() == "4"
    with showing(with_cards, opened, "heed=card&lang=<b>&drawn=9e9") as socket:
        assert socket.receive_text() == "4"
    rooms.show(opened.code, opened.key, SECOND)
    with showing(with_cards, opened, "heed=card&lang=<b>&drawn=4") as socket:
        assert socket.receive_bytes() == b"en sizes 5"


def test_a_class_is_watched_once_and_a_card_prepared_once_for_all_pages_of_a_language(
    room: tuple[Rooms, NewRoom], monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms, opened = room
    asked, watched, stopped = list[Language](), list[str](), list[str]()
    watch = rooms.watch

    def counted(code: str, watcher: Watcher) -> Callable[[], None]:
        watched.append(code)
        stop = watch(code, watcher)

        def stop_counted() -> None:
            stop()
            stopped.append(code)

        return stop_counted

    monkeypatch.setattr(rooms, "watch", counted)

    def prepare(code: str, lang: Language) -> Prepared | None:
        asked.append(lang)
        return prepared(code, lang)

    languages = ("en", "ja", "en", "en", "ja", "en")
    with TestClient(Starlette(routes=class_socket.routes(prepare))) as client, ExitStack() as pages:
        sockets = [
            pages.enter_context(showing(client, opened, f"heed=card&lang={lang}&drawn=1"))
            for lang in languages
        ]
        for socket in sockets:
            assert socket.receive_text() == "1"
        for version, stage in ((2, SECOND), (3, FIRST)):
            asked.clear()
            rooms.show(opened.code, opened.key, stage)
            for socket, lang in zip(sockets, languages, strict=True):
                assert socket.receive_bytes() == f"{lang} {stage.card} {version}".encode()
            assert sorted(asked) == ["en", "ja"]
        assert (watched, stopped) == ([opened.code], [])
    expect_equal(lambda: stopped, [opened.code])


def test_a_card_that_could_not_be_prepared_is_tried_again(room: tuple[Rooms, NewRoom]) -> None:
    _, opened = room
    asked = list[Language]()

    def prepare(code: str, lang: Language) -> Prepared | None:
        asked.append(lang)
        if len(asked) == 1:
            raise AttnVizError("out of reach", code="classes_out_of_reach")
        return prepared(code, lang)

    with TestClient(Starlette(routes=class_socket.routes(prepare))) as client:
        with showing(client, opened, "heed=card") as socket:
            assert socket.receive_text() == "1"
        with showing(client, opened, "heed=card") as socket:
            assert socket.receive_bytes() == b"en order 1"


def test_a_page_is_told_how_its_own_answer_was_judged(
    with_cards: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    rooms, opened = room
    seat, other = rooms.join(opened.code), rooms.join(opened.code)
    rooms.answer(opened.code, seat, FIRST.name, "not_sums")
    for one, judged in ((seat, "not_sums"), (other, None)):
        path = f"/{class_socket.FOLDER}/{opened.code}?heed=card"
        with with_cards.websocket_connect(path) as socket:
            socket.send_text(one)
            if judged is not None:
                assert socket.receive_json() == {"judged": judged, "version": 1}
            assert socket.receive_bytes() == b"en order 1"


def test_the_wall_is_told_who_is_here_and_has_answered(
    with_cards: TestClient, room: tuple[Rooms, NewRoom]
) -> None:
    rooms, opened = room
    wall = rooms.join(opened.code, watches=True)
    path = f"/{class_socket.FOLDER}/{opened.code}?heed=wall&drawn=1"
    with with_cards.websocket_connect(path) as socket:
        socket.send_text(wall)
        assert socket.receive_json() == {"present": 0, "answered": 0}
        assert socket.receive_text() == "1"
        seat = rooms.join(opened.code)
        assert socket.receive_json() == {"present": 1, "answered": 0}
        rooms.answer(opened.code, seat, FIRST.name, "right")
        assert socket.receive_json() == {"present": 1, "answered": 1}
