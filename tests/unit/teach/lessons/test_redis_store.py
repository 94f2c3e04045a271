"""`RedisStore` with two processes of a server, played by two stores, and a store that goes away."""

import threading
import time
from collections.abc import Iterator

import pytest

from attnviz.errors import AttnVizError
from attnviz.teach.classroom.bounds import Bounds
from attnviz.teach.classroom.redis_store import (
    CHANNEL,
    INDEX,
    PREFIX,
    RedisStore,
    _tell_of_another,
    redis_store,
)
from attnviz.teach.classroom.redis_store import logger as redis_log
from attnviz.teach.classroom.room import Counts
from attnviz.teach.classroom.rooms import Rooms
from attnviz.teach.classroom.stage import CellRequest, Stage
from attnviz.teach.classroom.store import OUT_OF_REACH
from tests.support.redis_server import redis_server
from tests.support.server import free_port
from tests.support.waiting import expect_equal, expect_true
from tests.unit.teach.lessons.conftest import MakeStore

FIRST, SECOND = Stage("block", "order"), Stage("block", "sizes", order=("sizes", "order"))


@pytest.fixture
def pair(redis_stores: MakeStore) -> tuple[Rooms, Rooms]:
    """The rooms as two processes of one server see them."""
    bounds = Bounds(wrong_codes=2)
    return Rooms(redis_stores(time.time, bounds)), Rooms(redis_stores(time.time, bounds))


def test_processes_serve_one_class(pair: tuple[Rooms, Rooms]) -> None:
    here, there = pair
    room, heard = here.create(FIRST, "ann"), list[Counts | None]()
    there.watch(room.code, heard.append)
    seat = there.join(room.code)
    here.show(room.code, room.key, SECOND)
    expect_equal(lambda: heard, [Counts(1, 2), Counts(2, 3)])
    there.answer(room.code, seat, SECOND.name, "right")
    assert here.tally(room.code, SECOND.name).counts == {"right": 1}
    here.show(room.code, room.key, Stage("block", "sizes", asked=CellRequest("sizes/0/x", 2, 2)))
    there.click(room.code, seat, "sizes/0/x", (1, 0))
    assert here.clicks(room.code) == {(1, 0): 1} and there.stage(room.code).asked is not None
    assert there.is_presenter(room.code, room.key) and here.count() == there.count() == 1
    report = there.close(room.code, room.key)
    assert report.members == 1 and here.count() == 0


def test_limits_are_counted_over_all_processes(pair: tuple[Rooms, Rooms]) -> None:
    here, there = pair
    for rooms in pair:
        with pytest.raises(AttnVizError, match="no room has the code"):
            rooms.knock("AAA-AAA", "bob")
    with pytest.raises(AttnVizError, match="too many wrong codes"):
        here.knock("AAA-AAA", "bob")
    for rooms in (here, there, here):
        rooms.create(FIRST, "ann")
    with pytest.raises(AttnVizError, match="or a visitor does"):
        there.create(FIRST, "ann")


@pytest.mark.slow
def test_changes_of_two_processes_at_once_lose_nothing(pair: tuple[Rooms, Rooms]) -> None:
    room = pair[0].create(FIRST)

    def follow(rooms: Rooms) -> None:
        for _ in range(25):
            rooms.answer(room.code, rooms.join(room.code), FIRST.name, "right")

    threads = [threading.Thread(target=follow, args=(rooms,)) for rooms in pair * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally = pair[0].tally(room.code, FIRST.name)
    assert (tally.counts, tally.present) == ({"right": 100}, 100)


OTHERS = (
    *("no JSON", "3", "[]", '["AAA-AAA"]', "[1, 2, 3, 4]", '["AAA-AAA", "x", [], {}]', "[" * 9999),
    '{"opened": "x", "touched": 0, "visitor": 1}',
    b"\xff\xfe\x00",
)


def test_what_another_program_writes_is_not_read_and_ends_nothing(
    pair: tuple[Rooms, Rooms], redis_stores: MakeStore, caplog: pytest.LogCaptureFixture
) -> None:
    _tell_of_another.cache_clear()
    here, there = pair
    room, heard = here.create(FIRST), list[Counts | None]()
    there.watch(room.code, heard.append)
    raw = redis_stores(time.time, Bounds())._redis
    for number, other in enumerate(OTHERS):
        raw.publish(CHANNEL, other)
        raw.hset(INDEX, f"other-{number}", other)
        raw.set(f"{PREFIX}:room:AAA-AAA", other)
        with pytest.raises(AttnVizError, match="no room has the code"):
            there.stage("AAA-AAA")
    raw.lpush(f"{PREFIX}:room:BBB-BBB", "a list in the place of a document")
    for call in (there.stage, there.join):
        with pytest.raises(AttnVizError, match="no room has the code"):
            call("BBB-BBB")
    assert here.count() == there.count() == 1
    here.show(room.code, room.key, SECOND)
    expect_equal(lambda: heard, [Counts(2, 2)])
    there.knock(room.code, "bob")
    said = [each.message for each in caplog.records if each.name == redis_log.name]
    assert len(said) == 1 and "another program" in said[0]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def alone(port: int) -> Iterator[RedisStore]:
    """A store without a server behind it."""
    store = RedisStore(f"redis://127.0.0.1:{port}/0")
    yield store
    store.close()


def test_a_store_out_of_reach_is_said_and_reached_again(
    alone: RedisStore, port: int, caplog: pytest.LogCaptureFixture
) -> None:
    rooms, told = Rooms(alone), list[Counts | None]()
    with redis_server(port):
        room = rooms.create(FIRST)
        rooms.watch(room.code, told.append)
    expect_equal(lambda: told, [None])
    for call in (lambda: rooms.stage(room.code), rooms.count, lambda: rooms.create(FIRST)):
        with pytest.raises(AttnVizError) as caught:
            call()
        assert caught.value.code == OUT_OF_REACH
    with redis_server(port):
        expect_true(lambda: is_reached(rooms))
        assert rooms.count() == 0  # such a store keeps nothing on a disk
        again = rooms.create(FIRST)
        rooms.watch(again.code, told.append)
        rooms.show(again.code, again.key, SECOND)
        expect_equal(lambda: told[-1], Counts(2, 2))
    said = [each.message for each in caplog.records if each.name == redis_log.name]
    assert [line.partition(":")[0] for line in said] == [
        "the store of the classes does not answer",  # once, however many asked
        "the store of the classes answers again",
    ]


def is_reached(rooms: Rooms) -> bool:
    try:
        rooms.count()
    except AttnVizError:
        return False
    return True


def test_redis_store_refuses_an_address_that_is_none() -> None:
    with pytest.raises(AttnVizError, match="redis://host:6379/0"):
        redis_store("localhost:6379")
