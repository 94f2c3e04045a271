"""Sentences for a class's map: who may give and collect them, their limits, and their end."""

import time

import pytest

from attnviz.errors import AttnVizError
from attnviz.teach.classroom.bounds import Bounds
from attnviz.teach.classroom.rooms import NewRoom, Rooms
from attnviz.teach.classroom.stage import Stage
from tests.unit.teach.lessons.conftest import MakeStore


@pytest.fixture
def rooms(make_store: MakeStore) -> Rooms:
    return Rooms(make_store(time.time, Bounds()))


@pytest.fixture
def room(rooms: Rooms) -> NewRoom:
    return rooms.create(Stage("block", "order"))


def refused(code: str) -> "pytest.RaisesExc[AttnVizError]":
    return pytest.RaisesExc(AttnVizError, check=lambda error: error.code == code)


def test_sentences_are_taken_while_the_presenter_collects_and_end_with_the_class(
    rooms: Rooms, room: NewRoom
) -> None:
    ann, bob = rooms.join(room.code), rooms.join(room.code)
    with refused("answer_closed"):
        rooms.say(room.code, ann, "A cat.")
    with refused("not_the_presenter"):
        rooms.collect(room.code, "", True)
    before = rooms.stage(room.code).version
    rooms.collect(room.code, room.key, True)
    assert rooms.collects(room.code) and rooms.stage(room.code).version == before + 1
    for seat, sentence in ((bob, "Two  dogs\nran."), (ann, "A cat."), (ann, "Zebras sleep.")):
        rooms.say(room.code, seat, sentence)
    assert rooms.sentences(room.code) == ("Two dogs ran.", "Zebras sleep.")
    rooms.say(room.code, bob, "")
    assert rooms.sentences(room.code) == ("Zebras sleep.",)
    with refused("room_too_large"):
        rooms.say(room.code, bob, "a" * 121)
    with refused("no_seat"):
        rooms.say(room.code, "nobody", "A cat.")
    with refused("sentences_fast"):
        for number in range(100):
            rooms.say(room.code, ann, str(number))
    rooms.collect(room.code, room.key, False)
    assert rooms.sentences(room.code) == ()
    rooms.collect(room.code, room.key, True)
    rooms.say(room.code, bob, "Gone.")
    assert "Gone." not in repr(rooms.close(room.code, room.key))
    with refused("room_unknown"):
        rooms.sentences(room.code)


def test_a_class_votes_on_what_it_wrote_and_may_change_its_vote(
    rooms: Rooms, room: NewRoom
) -> None:
    ann, bob = rooms.join(room.code), rooms.join(room.code)
    rooms.collect(room.code, room.key, True)
    rooms.say(room.code, ann, "It copies.")
    rooms.say(room.code, bob, "It rests.")
    with refused("answer_closed"):
        rooms.vote(room.code, ann, "It copies.")
    rooms.show(room.code, room.key, Stage("block", "order", activity="vote"))
    with refused("answer_closed"):
        rooms.vote(room.code, ann, "Nobody said this.")
    for seat, sentence in ((ann, "It rests."), (bob, "It rests."), (ann, "It copies.")):
        rooms.vote(room.code, seat, sentence)
    assert rooms.votes(room.code) == {"It copies.": 1, "It rests.": 1}
    rooms.say(room.code, bob, "")
    assert rooms.votes(room.code) == {"It copies.": 1}
    rooms.collect(room.code, room.key, False)
    assert rooms.votes(room.code) == {}
