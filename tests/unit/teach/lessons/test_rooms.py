"""Rooms: who may do what, what is counted, when they end, and that threads do not disturb them."""

import threading
import time
from dataclasses import replace

import pytest

from attnviz.errors import AttnVizError
from attnviz.teach.classroom import document
from attnviz.teach.classroom.bounds import Bounds
from attnviz.teach.classroom.room import Counts, hash_of
from attnviz.teach.classroom.rooms import NewRoom, Rooms
from attnviz.teach.classroom.stage import CellRequest, Stage
from tests.support.waiting import expect_equal
from tests.unit.teach.lessons.conftest import MakeStore

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
def rooms(clock: Clock, make_store: MakeStore) -> Rooms:
    return Rooms(make_store(clock, Bounds(rooms=3, members=2, answers=2)))


@pytest.fixture
def room(rooms: Rooms) -> NewRoom:
    return rooms.create(FIRST)


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


@pytest.mark.parametrize("code", ["", "ABC", "K7Q-M2X", "x" * 10_000])
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
    rooms.leave(room.code, seat, rooms.listen(room.code, seat))
    tally = rooms.tally(room.code, FIRST.name)
    assert (tally.answered, tally.present) == (1, 0)


def test_a_member_is_here_while_a_page_of_it_renews_its_lease(
    rooms: Rooms, room: NewRoom, clock: Clock
) -> None:
    seat = rooms.join(room.code)
    first = rooms.listen(room.code, seat)
    second = rooms.listen(room.code, seat)  # a second page, or the same one after a reload
    for _ in range(3):
        clock.now += rooms.bounds.present_s - 1
        counts = rooms.renew(room.code, seat, second)
    assert counts == Counts(1, rooms.changes(room.code))
    rooms.leave(room.code, seat, first)
    assert rooms.tally(room.code, FIRST.name).present == 1
    rooms.leave(room.code, seat, second)
    assert rooms.tally(room.code, FIRST.name).present == 0


def test_pages_of_a_server_that_died_are_gone_when_their_leases_end(
    rooms: Rooms, room: NewRoom, clock: Clock
) -> None:
    seat = rooms.join(room.code)
    for name in (seat, room.key):
        for _ in range(rooms.bounds.pages):
            rooms.listen(room.code, name, leads=name == room.key)
        with refused("room_too_large"):
            rooms.listen(room.code, name, leads=name == room.key)
    clock.now += rooms.bounds.present_s
    assert rooms.tally(room.code, FIRST.name).present == 0
    for name in (seat, room.key):
        rooms.listen(room.code, name, leads=name == room.key)
    assert rooms.tally(room.code, FIRST.name).present == 1


def test_the_presenters_key_is_kept_as_a_hash_alone(clock: Clock, make_store: MakeStore) -> None:
    store = make_store(clock, Bounds())
    room = Rooms(store).create(FIRST)
    kept = store.look(room.code, document.written)
    assert room.key not in kept and hash_of(room.key) in kept


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
        rooms.show(
            room.code, room.key, Stage("block", "a", settings="x" * rooms.bounds.stage_chars)
        )
    with refused("room_too_large"):
        for _ in range(rooms.bounds.watchers + 1):
            rooms.watch(room.code, lambda counts: None)
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
    told: list[Counts | None] = []
    stop = rooms.watch(room.code, told.append)
    seat = rooms.join(room.code)
    rooms.answer(room.code, seat, FIRST.name, "right")
    rooms.answer(room.code, seat, FIRST.name, "right")  # no change
    rooms.show(room.code, room.key, SECOND)
    expect_equal(lambda: told, [Counts(1, 2), Counts(1, 3), Counts(2, 4)])
    stop()
    others: list[Counts | None] = []
    rooms.watch(room.code, others.append)
    rooms.show(room.code, room.key, FIRST)
    rooms.close(room.code, room.key)
    expect_equal(lambda: others, [Counts(3, 5), Counts(3, 6, ended=True)])
    assert len(told) == 3


def test_a_watcher_may_ask_the_room(rooms: Rooms, room: NewRoom) -> None:
    seen: list[str] = []
    rooms.watch(room.code, lambda counts: seen.append(rooms.stage(room.code).card))
    rooms.show(room.code, room.key, SECOND)
    expect_equal(lambda: seen, ["sizes"])


def test_threads_lose_nothing(make_store: MakeStore) -> None:
    rooms = Rooms(make_store(time.time, Bounds(members=64)))
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


def test_rooms_to_which_nobody_came_make_way_for_a_class(
    clock: Clock, make_store: MakeStore
) -> None:
    rooms = Rooms(make_store(clock, Bounds(rooms=2)))
    kept = rooms.create(FIRST)
    rooms.join(kept.code)
    empty = rooms.create(FIRST)
    with pytest.raises(AttnVizError, match="holds 2 rooms"):
        rooms.create(FIRST)
    clock.now += 61.0
    led = rooms.create(FIRST)
    lease = rooms.listen(led.code, led.key, leads=True)
    with pytest.raises(AttnVizError, match="no room has the code"):
        rooms.stage(empty.code)
    for _ in range(4):
        clock.now += 40.0
        rooms.renew(led.code, led.key, lease)
    with pytest.raises(AttnVizError, match="holds 2 rooms"):
        rooms.create(FIRST)
    assert rooms.stage(kept.code) and rooms.count() == 2


def test_knock_refuses_any_code_after_too_many_wrong_ones(
    rooms: Rooms, room: NewRoom, clock: Clock
) -> None:
    rooms.knock(room.code, "ann")
    for _ in range(rooms.bounds.wrong_codes):
        with refused("room_unknown"):
            rooms.knock("AAA-AAA", "bob")
    with refused("codes_tried"):
        rooms.knock(room.code, "bob")
    rooms.knock(room.code, "ann")
    clock.now += 60
    rooms.knock(room.code, "bob")
    for number in range(rooms.bounds.all_wrong_codes):
        with refused("room_unknown"):
            rooms.knock("AAA-AAA", f"session {number}")
    with refused("codes_tried"):
        rooms.knock(room.code, "ann")


def test_create_bounds_the_rooms_of_a_visitor_and_of_a_minute(
    clock: Clock, make_store: MakeStore
) -> None:
    rooms = Rooms(make_store(clock, Bounds(rooms_each=2, openings=4)))
    opened = [rooms.create(FIRST, "ann") for _ in range(2)]
    with refused("rooms_yours"):
        rooms.create(FIRST, "ann")
    rooms.close(opened[0].code, opened[0].key)
    rooms.create(FIRST, "ann"), rooms.create(FIRST, "bob")
    with refused("rooms_fast"):
        rooms.create(FIRST, "cid")
    clock.now += 60
    rooms.create(FIRST, "cid")


def test_close_reports_the_answers_in_the_order_of_the_cards(rooms: Rooms, room: NewRoom) -> None:
    seats = [rooms.join(room.code) for _ in range(2)]
    rooms.join(room.code, seats[0])
    for seat in seats:
        rooms.answer(room.code, seat, FIRST.name, "mix")
    rooms.show(room.code, room.key, replace(SECOND, settings="angle=30"))
    rooms.answer(room.code, seats[0], SECOND.name, "right")
    report = rooms.close(room.code, room.key)
    assert report.members == 2
    named = [(name[1], settings, dict(tally.counts)) for name, settings, tally in report.cards]
    assert named == [("order", "", {"mix": 2}), ("sizes", "angle=30", {"right": 1})]
    assert not any(seat in repr(report) for seat in seats)


def test_click_counts_one_cell_for_each_member_and_refuses_what_is_none(
    rooms: Rooms, room: NewRoom, clock: Clock
) -> None:
    ann, bob = rooms.join(room.code), rooms.join(room.code)
    with refused("answer_closed"):
        rooms.click(room.code, ann, "order/0/x", (0, 0))
    asked = CellRequest("order/0/x", 2, 3)
    rooms.show(room.code, room.key, replace(FIRST, asked=asked))
    for seat, cell in ((ann, (0, 0)), (ann, (1, 2)), (bob, (1, 2))):
        rooms.click(room.code, seat, asked.target, cell)
    assert rooms.clicks(room.code) == {(1, 2): 2}
    for cell in ((2, 0), (0, 3), (-1, 0)):
        with refused("bad_label"):
            rooms.click(room.code, ann, asked.target, cell)
    with refused("answer_closed"):
        rooms.click(room.code, ann, "order/0/y", (0, 0))
    with refused("no_seat"):
        rooms.click(room.code, "nobody", asked.target, (0, 0))
    with refused("clicks_fast"):
        for _ in range(100):
            rooms.click(room.code, ann, asked.target, (0, 1))
    rooms.click(room.code, bob, asked.target, (0, 0))  # one flood does not stop the others
    rooms.show(room.code, room.key, replace(FIRST, asked=replace(asked, shown=True)))
    with refused("answer_closed"):
        rooms.click(room.code, bob, asked.target, (0, 1))


def test_a_screen_on_the_wall_is_counted_nowhere(rooms: Rooms, room: NewRoom) -> None:
    rooms.join(room.code, watches=True)
    rooms.join(room.code)
    assert rooms.tally(room.code, FIRST.name).present == 1


def test_take_back_counts_who_comes_back_once(rooms: Rooms, room: NewRoom) -> None:
    own = rooms.join(room.code)
    rooms.answer(room.code, own, FIRST.name, "mix")
    new = rooms.join(room.code)
    rooms.answer(room.code, new, FIRST.name, "right")  # what stood in its address, say
    rooms.take_back(room.code, own, new)
    tally = rooms.tally(room.code, FIRST.name)
    assert (tally.counts, tally.present) == ({"mix": 1}, 1)
    assert not rooms.is_member(room.code, new)
    rooms.show(room.code, room.key, SECOND)
    new = rooms.join(room.code)
    rooms.answer(room.code, new, SECOND.name, "right")
    rooms.take_back(room.code, own, new)
    assert rooms.tally(room.code, SECOND.name).counts == {"right": 1}
    rooms.take_back(room.code, room.key, own)  # it leads
    assert rooms.tally(room.code, SECOND.name).answered == 0


def test_one_address_shuts_no_door_for_others(make_store: MakeStore, clock: Clock) -> None:
    bounds = Bounds(openings=6, openings_address=4, rooms_address=3, wrong_codes_address=5,
                    all_wrong_codes=5)  # fmt: skip
    rooms = Rooms(make_store(clock, bounds))
    for number in range(3):
        rooms.create(FIRST, f"tab {number}", "hostile")
    with refused("rooms_full"):
        rooms.create(FIRST, "another tab", "hostile")
    room = rooms.create(FIRST, "ann", "school")
    for number in range(5):
        with refused("room_unknown"):
            rooms.knock("AAA-AAA", f"tab {number}", "hostile")
    for code in ("AAA-AAA", room.code):
        with refused("codes_tried"):
            rooms.knock(code, "another tab", "hostile")
    rooms.knock(room.code, "bob", "school")
    with refused("codes_tried"):
        rooms.knock("AAA-AAA", "bob", "school")  # the server's limit is spent for wrong codes
    with refused("codes_tried"):
        rooms.knock(room.code, "cid")  # and for all codes of those whose address is not known


def test_openings_of_one_address_are_counted_before_those_of_the_server(
    make_store: MakeStore, clock: Clock
) -> None:
    rooms = Rooms(make_store(clock, Bounds(openings=6, openings_address=4)))
    opened = [rooms.create(FIRST, f"tab {number}", "hostile") for number in range(4)]
    for room in opened:
        rooms.close(room.code, room.key)
    for number in range(10):
        with refused("rooms_fast"):
            rooms.create(FIRST, f"another tab {number}", "hostile")
    rooms.create(FIRST, "ann", "school"), rooms.create(FIRST, "bob", "school")


def test_each_member_trains_another_seed_and_its_curve_is_kept(rooms: Rooms, room: NewRoom) -> None:
    """A seed stays a member's own; nobody trains before the class is asked to."""
    ann, bob = rooms.join(room.code), rooms.join(room.code)
    with refused("answer_closed"):
        rooms.train(room.code, ann)
    rooms.show(room.code, room.key, replace(FIRST, activity="train"))
    assert [rooms.train(room.code, seat) for seat in (ann, bob, ann)] == [100, 101, 100]
    rooms.note_curve(room.code, bob, (40, 500, 900))
    assert rooms.curves(room.code) == {100: (), 101: (40, 500, 900)}
    with refused("bad_label"):
        rooms.note_curve(room.code, bob, (40, 1001))
    with refused("room_too_large"):
        rooms.note_curve(room.code, bob, (0,) * (rooms.bounds.curve_points + 1))
    with refused("no_seat"):
        rooms.train(room.code, "nobody")
    assert "900" not in repr(rooms.close(room.code, room.key))
