"""The card that a class's socket sends, for every card: before the reveal and after it."""

import gzip
import json
from base64 import b64decode
from dataclasses import replace

import pytest

from attnviz import i18n
from attnviz.app.page_parts.classroom import staged_card
from attnviz.app.server import class_socket, course_lessons
from attnviz.pictures.shared.buffer import unpack
from attnviz.teach.classroom.rooms import NewRoom
from attnviz.teach.classroom.stage import Stage
from attnviz.teach.course import SLUGS
from attnviz.teach.lessons.cards.card import LiveTraining, RealHead
from tests.support.cases import mostly_slow

pytestmark = pytest.mark.usefixtures("fresh_rooms")
# drawn by the page itself: a real model's head, a training that runs
BY_PAGE = {
    ("ask", "real"),
    ("heads", "looks"),
    ("patches", "column"),
    ("patches", "looks"),
    ("claims", "quiet"),
    ("birth", "live"),
    ("birth", "expect"),
    ("birth", "ablate"),
}


def opened(stage: Stage) -> NewRoom:
    return class_socket.rooms().create(stage)


@pytest.mark.parametrize("slug", mostly_slow(SLUGS, 3))
def test_a_card_gives_nothing_away_before_the_reveal_and_everything_after(slug: str) -> None:
    for recipe in course_lessons.lesson(slug).recipes:
        stage = Stage(slug, recipe.name)
        room = opened(stage)
        before = staged_card.staged(room.code, "en", stage).card
        told = (before.right, before.reveal, before.takeaway, before.feedback, before.bars)
        assert not any(told) and before.title and before.question and before.takes
        for picture in before.pictures:
            if picture.kind == "board":
                board = unpack(b64decode(picture.data))[0]
                assert board["answers"] == [] and board["chosen"] is None and board["is_open"]
                assert board["roomy"]
        shown = replace(stage, revealed=True, shown=True)
        after = staged_card.staged(room.code, "en", shown).card
        assert after.reveal and after.takeaway and after.feedback and after.bars
        assert (after.right != "") == (after.takes != "cell")
        assert after.needs_page == ((slug, recipe.name) in BY_PAGE)
        class_socket.rooms().close(room.code, room.key)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_message_is_the_card_as_json(lang: i18n.Language) -> None:
    room = opened(Stage("block", "order"))
    ready = staged_card.prepare(room.code, lang)
    assert ready is not None and ready.version == 1 and not ready.labels
    assert ready.card is staged_card.prepare(room.code, lang).card, "prepared once"  # type: ignore[union-attr]
    message = json.loads(gzip.decompress(ready.card))
    assert (message["lesson"], message["card"], message["takes"]) == ("block", "order", "choice")
    assert len(ready.card) < 20_000


def test_labels_come_with_the_reveal_alone() -> None:
    room = opened(Stage("block", "order"))
    rooms = class_socket.rooms()
    seat = rooms.join(room.code)
    rooms.answer(room.code, seat, ("block", "order"), "not_error")
    assert not staged_card.prepare(room.code, "en").labels  # type: ignore[union-attr]
    rooms.show(room.code, room.key, Stage("block", "order", revealed=True))
    assert staged_card.prepare(room.code, "en").labels == {seat: "not_error"}  # type: ignore[union-attr]


def test_a_class_on_another_page_has_no_card() -> None:
    room = opened(Stage("block", "order", page="overview"))
    assert staged_card.prepare(room.code, "en") is None


def test_what_only_a_page_draws_is_known() -> None:
    found = set()
    for slug in ("claims", "heads"):
        for recipe in course_lessons.lesson(slug).recipes:
            shown = staged_card.shown_on(Stage(slug, recipe.name, revealed=True), "", "en")
            pictures = (picture for _, picture in staged_card.pictures_of(shown))
            if any(isinstance(picture, RealHead | LiveTraining) for picture in pictures):
                found.add((slug, recipe.name))
    assert found == {pair for pair in BY_PAGE if pair[0] in ("claims", "heads")}
