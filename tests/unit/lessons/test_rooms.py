"""Rooms: who may do what, what is counted, when they end, and that threads do not disturb them."""

import math
import threading
from dataclasses import replace

import pytest

from attnviz.errors import AttnVizError
from attnviz.lessons.classroom.room import Bounds, Stage
from attnviz.lessons.classroom.rooms import (
    ALPHABET,
    GROUP,
    GROUPS,
    NewRoom,
    Rooms,
    new_code,
    normal,
)

FIRST = Stage("block", "order")
SECOND = Stage("block", "sizes")


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(clock, Bounds(rooms=3, members=2, answers=2))


@pytest.fixture
def room(rooms: Rooms) -> NewRoom:
    return rooms.create(FIRST)


def test_codes_cannot_be_guessed_and_can_be_read_aloud() -> None:
    assert GROUPS * GROUP * math.log2(len(set(ALPHABET))) >= 60
    assert not set("0O1l") & set(ALPHABET)
    codes = {new_code() for _ in range(500)}
    assert len(codes) == 500
    assert all(set(code) <= set(ALPHABET) | {"-"} for code in codes)
    assert set("".join(codes)) == set(ALPHABET) | {"-"}


@pytest.mark.parametrize(
    "typed", ["k7qm-2xlp-9rta", "K7QM2XLP9RTA", " k7qm 2xlp 9rta", "Ｋ７qm2xlp9rta"]
)
def test_a_code_may_be_typed_in_any_way(typed: str) -> None:
    assert normal(typed) == "K7QM-2XLP-9RTA"


def test_the_presenters_key_is_another_and_longer_secret(rooms: Rooms, room: NewRoom) -> None:
    assert len(room.key) * 6 >= 128 and room.key not in room.code
    assert rooms.is_presenter(room.code, room.key)
    assert not rooms.is_presenter(room.code, "")
    assert not rooms.is_presenter(room.code, rooms.create(FIRST).key)


def test_a_follower_sees_what_the_presenter_shows(rooms: Rooms, room: NewRoom) -> None:
    assert rooms.stage(room.code) == replace(FIRST, version=1)
    rooms.show(room.code, room.key, SECOND)
    rooms.show(room.code, room.key, SECOND)  # nothing new
    assert rooms.stage(room.code.lower()) == replace(SECOND, version=2)
    rooms.show(room.code, room.key, replace(SECOND, revealed=True))
    assert rooms.stage(room.code) == replace(SECOND, revealed=True, version=3)


def refused(code: str) -> "pytest.RaisesExc[AttnVizError]":
    return pytest.RaisesExc(AttnVizError, check=lambda error: error.code == code)


def test_nobody_else_rules_a_room(rooms: Rooms, room: NewRoom) -> None:
    with refused("not_the_presenter"):
        rooms.show(room.code, "", SECOND)
    with refused("not_the_presenter"):
        rooms.close(room.code, rooms.create(FIRST).key)
    assert rooms.stage(room.code).card == "order"


@pytest.mark.parametrize("code", ["", "ABCD", "K7QM-2XLP-9RTA", "x" * 10_000])
def test_a_wrong_code_opens_nothing(rooms: Rooms, room: NewRoom, code: str) -> None:
    with refused("room_unknown"):
        rooms.join(code)


def test_answers_are_counted_once_for_each_member(rooms: Rooms, room: NewRoom) -> None:
    one, two = rooms.join(room.code), rooms.join(room.code)
    rooms.answer(room.code, one, FIRST.name, "scale")
    rooms.answer(room.code, one, FIRST.name, "right")
    rooms.answer(room.code, two, FIRST.name, "mix")
    tally = rooms.tally(room.code, FIRST.name)
    assert tally.counts == {"right": 1, "mix": 1}
    assert (tally.answered, tally.present) == (2, 2)
    assert rooms.tally(room.code, SECOND.name).answered == 0


def test_who_drops_and_returns_keeps_its_answer(rooms: Rooms, room: NewRoom, clock: Clock) -> None:
    seat = rooms.join(room.code)
    rooms.answer(room.code, seat, FIRST.name, "mix")
    clock.now += rooms.bounds.present_s
    assert rooms.tally(room.code, FIRST.name).present == 0
    assert rooms.join(room.code, seat) == seat
    rooms.answer(room.code, seat, FIRST.name, "mix")
    tally = rooms.tally(room.code, FIRST.name)
    assert (tally.counts, tally.present) == ({"mix": 1}, 1)
    rooms.leave(room.code, seat)
    tally = rooms.tally(room.code, FIRST.name)
    assert (tally.answered, tally.present) == (1, 0)


def test_a_member_is_here_while_a_page_of_it_listens(
    rooms: Rooms, room: NewRoom, clock: Clock
) -> None:
    seat = rooms.join(room.code)
    rooms.listen(room.code, seat)
    rooms.listen(room.code, seat)  # a second page, or the same one after a reload
    clock.now += 10 * rooms.bounds.present_s
    rooms.leave(room.code, seat)
    assert rooms.tally(room.code, FIRST.name).present == 1
    rooms.leave(room.code, seat)
    assert rooms.tally(room.code, FIRST.name).present == 0


def test_an_id_from_elsewhere_is_not_taken(rooms: Rooms, room: NewRoom) -> None:
    assert rooms.join(room.code, "chosen") != "chosen"
    with refused("no_seat"):
        rooms.answer(room.code, "chosen", FIRST.name, "right")


def test_answers_count_only_for_the_card_on_the_stage_and_before_its_reveal(
    rooms: Rooms, room: NewRoom
) -> None:
    seat = rooms.join(room.code)
    with refused("answer_closed"):
        rooms.answer(room.code, seat, SECOND.name, "right")
    rooms.show(room.code, room.key, replace(FIRST, revealed=True))
    with refused("answer_closed"):
        rooms.answer(room.code, seat, FIRST.name, "right")
    assert rooms.tally(room.code, FIRST.name).answered == 0


@pytest.mark.parametrize("label", ["", "my name is Ann", "<b>", "a" * 41])
def test_an_answer_is_a_name_never_a_text(rooms: Rooms, room: NewRoom, label: str) -> None:
    seat = rooms.join(room.code)
    with refused("bad_label"):
        rooms.answer(room.code, seat, FIRST.name, label)


def test_rooms_members_answers_and_stages_are_bounded(rooms: Rooms, room: NewRoom) -> None:
    seats = [rooms.join(room.code) for _ in range(2)]
    with refused("room_full"):
        rooms.join(room.code)
    assert rooms.join(room.code, seats[0]) == seats[0]
    for name in ("a", "b", "c"):
        rooms.show(room.code, room.key, Stage("block", name))
        if name < "c":
            rooms.answer(room.code, seats[0], ("block", name), "right")
    with refused("room_too_large"):
        rooms.answer(room.code, seats[0], ("block", "c"), "right")
    with refused("room_too_large"):
        rooms.show(room.code, room.key, Stage("block", "a", settings="x" * 2000))
    with refused("room_too_large"):
        for _ in range(rooms.bounds.watchers + 1):
            rooms.watch(room.code, lambda: None)
    rooms.create(FIRST), rooms.create(FIRST)
    with refused("rooms_full"):
        rooms.create(FIRST)


def test_a_full_room_lets_go_who_is_away_for_longest(
    rooms: Rooms, room: NewRoom, clock: Clock
) -> None:
    first = rooms.join(room.code)
    clock.now += 1
    second = rooms.join(room.code)
    clock.now += rooms.bounds.present_s
    third = rooms.join(room.code)
    assert rooms.join(room.code, second) == second
    with refused("room_full"):
        rooms.join(room.code, first)
    assert third != first


def test_rooms_end(rooms: Rooms, clock: Clock) -> None:
    closed, idle, old = (rooms.create(FIRST) for _ in range(3))
    rooms.close(closed.code, closed.key)
    with refused("room_unknown"):
        rooms.stage(closed.code)
    seat = rooms.join(old.code)
    for _ in range(int(rooms.bounds.total_s // 3600) - 1):
        clock.now += 3600
        rooms.see(old.code, seat)
    with refused("room_unknown"):
        rooms.stage(idle.code)
    assert rooms.stage(old.code) == replace(FIRST, version=1)
    clock.now += 3600
    with refused("room_unknown"):
        rooms.see(old.code, seat)
    assert len({rooms.create(FIRST).code for _ in range(3)}) == 3  # their places are free again


def test_watchers_are_told_of_changes_and_of_the_end(rooms: Rooms, room: NewRoom) -> None:
    told: list[int] = []
    stop = rooms.watch(room.code, lambda: told.append(1))
    seat = rooms.join(room.code)
    rooms.answer(room.code, seat, FIRST.name, "right")
    rooms.answer(room.code, seat, FIRST.name, "right")  # no change
    rooms.show(room.code, room.key, SECOND)
    assert len(told) == 3
    stop()
    rooms.show(room.code, room.key, FIRST)
    assert len(told) == 3
    rooms.watch(room.code, lambda: told.append(1))
    rooms.close(room.code, room.key)
    assert len(told) == 4


def test_a_watcher_may_ask_the_room(rooms: Rooms, room: NewRoom) -> None:
    seen: list[str] = []
    rooms.watch(room.code, lambda: seen.append(rooms.stage(room.code).card))
    rooms.show(room.code, room.key, SECOND)
    assert seen == ["sizes"]


def test_threads_lose_nothing() -> None:
    rooms = Rooms(bounds=Bounds(members=64))
    room = rooms.create(FIRST)
    start, versions = threading.Barrier(17), list[int]()

    def follow(number: int) -> None:
        start.wait()
        for _ in range(4):
            seat = rooms.join(room.code)
            rooms.answer(room.code, seat, FIRST.name, "right" if number % 2 else "mix")
            rooms.join(room.code, seat)

    def present() -> None:
        start.wait()
        for step in range(50):
            rooms.show(room.code, room.key, replace(FIRST, settings=str(step)))
            versions.append(rooms.stage(room.code).version)

    threads = [threading.Thread(target=follow, args=(number,)) for number in range(16)]
    threads.append(threading.Thread(target=present))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rooms.tally(room.code, FIRST.name).counts == {"right": 32, "mix": 32}
    assert versions == list(range(2, 52))


def test_rooms_to_which_nobody_came_make_way_for_a_class() -> None:
    now = [0.0]
    rooms = Rooms(lambda: now[0], Bounds(rooms=2))
    kept = rooms.create(FIRST)
    rooms.join(kept.code)
    empty = rooms.create(FIRST)
    with pytest.raises(AttnVizError, match="holds 2 rooms"):
        rooms.create(FIRST)
    now[0] = 61.0
    led = rooms.create(FIRST)
    rooms.listen(led.code, led.key, leads=True)
    with pytest.raises(AttnVizError, match="no room has the code"):
        rooms.stage(empty.code)
    now[0] = 200.0
    with pytest.raises(AttnVizError, match="holds 2 rooms"):
        rooms.create(FIRST)
    assert rooms.stage(kept.code) and rooms.count() == 2
