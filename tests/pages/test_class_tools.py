"""What a class does besides its cards: pages, the wall, clicks, order, report."""

import base64
import json
from dataclasses import replace
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.app.page_parts.classroom import activity, report
from attnviz.app.page_parts.learn import open_card
from attnviz.app.server import class_socket, course_lessons, trainings
from attnviz.app.session import messages, routes
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.pages import Door
from attnviz.teach.lessons.cards.times import JOINING_MIN, planned_cards
from tests.pages.a_class import (
    EN,
    JA,
    KEY,
    answer,
    bars,
    card,
    code,
    place,
    press,
    said,
    shares,
    title,
    turn,
    view,
)
from tests.pages.conftest import Visit, beside_bar, parameters
from tests.support.hostile import TEXT as HOSTILE

pytestmark = pytest.mark.usefixtures("fresh_rooms")


def headers(app: AppTest, part: str) -> list[dict[str, object]]:
    found = [unpack(each.proto.bytes)[0] for each in beside_bar(app)]
    return [header for header in found if part in header]


def map_header(app: AppTest) -> dict[str, Any]:
    return next(header for header in headers(app, "texts") if "heads" in header)


def test_the_report_of_a_class_has_its_answers_and_no_names(
    presenter: AppTest, visit: Visit
) -> None:
    for option in ("sums", "sums", "nothing"):
        follower = visit("learn", room=code(presenter))
        answer(follower, option)
    press(presenter, "learn.next.order")
    press(presenter, "class.end")
    assert presenter.header[0].value == i18n.text("en", "report.title")
    assert f"✓ **Right.** {said('sums')}: 2" in bars(presenter)
    kept = presenter.session_state["attnviz.class.report"]
    (asked, *_) = report.questions(kept, "en")
    assert (asked.n_answers, asked.right_share("en")) == (3, "67%")
    sheet = report.as_csv("en", [asked]).splitlines()
    counted = {tuple(line.split(",")[-3:]) for line in sheet[1:]}  # in the order of this class
    assert counted == {("", "1", "0.333"), ("yes", "2", "0.667")}
    page = report.as_html("ja", kept, report.questions(kept, "ja"))
    assert escape(JA.of("order", "option.sums")) in page and "<script" not in page
    press(presenter, "report.close")
    assert not bars(presenter)


def test_a_class_goes_along_to_a_page_and_comes_back(presenter: AppTest, visit: Visit) -> None:
    room, host = code(presenter), place(presenter).host
    follower = visit("learn", room=room, lang="ja")
    stage, rooms = class_socket.rooms().stage(room), class_socket.rooms()
    rooms.show(room, host, replace(stage, page="steps", query="layer=3&head=1&text=Red+is+red"))
    follower.run()
    view = follower.session_state["attnviz.view"]
    assert (view.place.layer, view.place.head, view.lang) == (3, 1, "ja")
    assert view.input.text == "Red is red" and place(follower).seat
    along = i18n.text("ja", "class.along", code=room)
    assert f"**{along}**" in [each.value for each in follower.caption]
    rooms.show(room, host, replace(stage, page="steps", query="layer=2&head=1&text=Red+is+red"))
    follower.run()
    assert follower.session_state["attnviz.view"].place.layer == 2
    rooms.show(room, host, replace(stage, card="sharper"))
    follower.run()
    assert title(follower).startswith(JA.of("sharper", "title").partition("[[")[0])


FOLLOWED_VIEWS = {
    "overview": ("layer=2&head=0", "place", "layer", 2),
    "steps": ("layer=3&head=1&query=2", "place", "query", 2),
    "geometry": ("layer=3&head=1&face=arrows", "drawing", "face", "arrows"),
    "switches": (
        "model=stories&changes=L0.H0.mixed%3Dzero",
        "switches",
        "changes",
        "L0.H0.mixed=zero",
    ),
}


@pytest.mark.some(2)
@pytest.mark.parametrize("door", FOLLOWED_VIEWS)
def test_a_follower_is_on_the_page_and_the_view_of_who_leads(
    presenter: AppTest, visit: Visit, door: Door
) -> None:
    query, part, name, value = FOLLOWED_VIEWS[door]
    page = routes.page(door)
    room, host = code(presenter), place(presenter).host
    follower = visit("learn", room=room, lang="ko")
    rooms = class_socket.rooms()
    rooms.show(room, host, replace(rooms.stage(room), page=page, query=query))
    follower.run()
    assert not follower.exception and not follower.error
    assert follower.title[0].value == i18n.text("ko", f"page.{door}.title")
    view = follower.session_state["attnviz.view"]
    assert getattr(getattr(view, part), name) == value
    along = i18n.text("ko", "class.along", code=room)
    assert f"**{along}**" in [each.value for each in follower.caption]


@pytest.mark.slow
def test_sentences_of_a_class_land_on_the_map_of_who_leads_without_names(
    presenter: AppTest, visit: Visit
) -> None:
    follower = visit("learn", room=code(presenter))
    assert KEY("class.sentence") not in [box.key for box in follower.text_input]
    view = presenter.session_state["attnviz.view"]
    presenter.session_state["attnviz.view"] = replace(view, model="stories")
    presenter.switch_page("../../pages/map.py").run()
    texts = map_header(presenter)["texts"]
    presenter.toggle(key=KEY("class.collect")).set_value(True).run()
    follower.run().text_input(key=KEY("class.sentence")).set_value(HOSTILE).run()
    assert not follower.error and not follower.exception
    presenter.run()
    assert i18n.text("en", "class.collected", count=1) in [each.value for each in presenter.caption]
    header = map_header(presenter)
    own = [text for text in header["texts"] if text[2] == 2]
    assert len(header["texts"]) == len(texts) + 1 and len(own) == 1
    assert place(follower).seat not in repr(header)
    presenter.toggle(key=KEY("class.collect")).set_value(False).run()
    assert map_header(presenter)["texts"] == texts
    follower.run()
    assert KEY("class.sentence") not in [box.key for box in follower.text_input]


def test_who_leads_takes_the_class_to_a_page(presenter: AppTest, visit: Visit) -> None:
    presenter.switch_page("../../pages/overview.py").run()
    stage = class_socket.rooms().stage(code(presenter))
    assert stage.page == "overview" and "layer=" in stage.query and "room" not in stage.query
    presenter.switch_page("../../pages/weights.py").run()
    assert class_socket.rooms().stage(code(presenter)).page == "overview"
    presenter.switch_page("../../pages/learn.py").run()
    assert class_socket.rooms().stage(code(presenter)).page == "learn"


def test_the_wall_shows_bars_after_the_reveal_alone_and_is_counted_nowhere(
    presenter: AppTest, visit: Visit
) -> None:
    wall = visit("learn", room=code(presenter), wall="1")
    shown = view(wall)
    assert shown["place"] == "wall" and not shown["card"]["begun"] and not shares(wall)
    assert shown["link"].endswith(f"/learn?room={code(presenter)}") and len(shown["qr"]) > 20
    press(presenter, "class.begin")
    assert card(wall.run())["begun"]
    follower = visit("learn", room=code(presenter))
    answer(follower, "sums")
    assert (view(wall.run())["present"], view(wall)["answered"]) == (1, 1) and not shares(wall)
    assert not card(wall)["right"]
    press(presenter, "class.reveal")
    assert shares(wall.run())["right"] == 1 and card(wall)["right"] == "sums"
    assert view(answer(wall, "nothing"))["own"] == "", "the wall answers nothing"
    tally = class_socket.rooms().tally(code(presenter), ("block", "order"))
    assert (tally.present, tally.answered) == (1, 1)
    assert not place(wall).host and parameters(wall).keys() >= {"room", "wall"}


def test_cards_are_hidden_and_put_in_another_order(presenter: AppTest, visit: Visit) -> None:
    press(presenter, "class.begin")
    chosen = presenter.multiselect(key=KEY("class.order.block"))
    assert [chosen.options[place] for place in (1, 7)] == [
        "2. Three matrices make Q, K and V",
        "8. The last step: W_O",
    ]  # as text, without the signs of Markdown
    chosen.set_value(["mix", "order"]).run()
    assert class_socket.rooms().stage(code(presenter)).number == 1
    presenter.multiselect(key=KEY("class.order.block")).set_value(["mix", "softmax"]).run()
    stage = class_socket.rooms().stage(code(presenter))
    assert (stage.card, stage.number, stage.count) == ("mix", 0, 2)
    press(presenter, "learn.next.mix")
    assert class_socket.rooms().stage(code(presenter)).card == "softmax"
    where = i18n.text("en", "learn.where", number=2, cards=2)
    assert card(visit("learn", room=code(presenter)))["where"] == where


def test_a_late_slider_of_another_card_does_not_turn_the_class_back(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead = visit("learn", lesson="ask", card="turn", answers="turn=%3F")
    lead = lead.button(key=KEY("class.teach")).click().run()
    turn(lead, "score")
    kept = {"attnviz.learn.drawn": lead.session_state["attnviz.learn.drawn"]}
    moves: list[object] = []
    monkeypatch.setattr(open_card.store, "get", lambda name, default=None: kept[f"attnviz.{name}"])
    monkeypatch.setattr(open_card.current, "update", moves.append)
    open_card.set_value("turn", "angle", 30.0)
    assert moves == []


def test_everyone_clicks_a_cell_and_sees_how_the_class_clicked(
    presenter: AppTest, visit: Visit
) -> None:
    press(presenter, "class.begin")
    turn(presenter, "products")
    ask = next(each for each in presenter.button if "class.cell." in str(each.key))
    ask.click().run()
    room = code(presenter)
    asked = class_socket.rooms().stage(room).asked
    assert asked is not None and not asked.shown
    followers = [visit("learn", room=room) for _ in range(3)]
    assert any(board["is_open"] for board in headers(followers[0], "panels"))
    for follower, cell in zip(followers, ((0, 1), (0, 1), (1, 0)), strict=True):
        class_socket.rooms().click(room, place(follower).seat, asked.target, cell)
    press(presenter, "class.cell_show")
    clicks = i18n.text("en", "class.clicks", count=3)
    for app in (presenter, followers[0].run(), visit("learn", room=room, wall="1")):
        assert f"**{clicks}**" in [each.value for each in app.markdown]
    press(presenter, "class.cell_end")
    assert class_socket.rooms().stage(room).asked is None


def test_a_class_votes_talks_and_votes_again_with_both_votes_in_the_report(
    presenter: AppTest, visit: Visit
) -> None:
    press(presenter, "class.begin")
    one, two = (visit("learn", room=code(presenter)) for _ in range(2))
    answer(one, "sums")
    answer(two, "nothing")
    press(presenter, "class.again")
    assert card(one.run())["vote"] == 2 and view(one)["own"] == ""
    tally = class_socket.rooms().tally(code(presenter), ("block", "order"))
    assert tally.answered == 0 and tally.first == {"right": 1, "not_nothing": 1}
    assert KEY("class.again") not in [each.key for each in presenter.button]
    for app in (one, two):
        answer(app, "sums", at=2)
        assert view(app.run())["own"] == "sums", "a further run does not drop the second answer"
    press(presenter, "class.reveal")
    votes = {bar["label"]: (bar["first"], bar["count"]) for bar in card(one.run())["bars"]}
    assert votes == {"right": (1, 2), "not_nothing": (1, 0), "not_error": (0, 0)}
    assert view(two.run())["judged"] == "right"
    press(presenter, "class.end")
    (asked, *_) = report.questions(presenter.session_state["attnviz.class.report"], "en")
    assert [(bar.first, bar.count) for bar in asked.answers if bar.right] == [(1, 2)]
    line = next(line for line in report.as_csv("en", [asked]).splitlines() if ",yes," in line)
    assert line.endswith(",1,yes,2,1.000")


def test_the_notes_of_the_teacher_have_the_key_and_the_mistakes(presenter: AppTest) -> None:
    press(presenter, "class.begin")
    texts = [each.value for each in presenter.markdown]
    assert any(EN.of("order", "option.sums") in text and "**" in text for text in texts)
    assert any(EN.of("order", "feedback.error") in text for text in texts)
    assert not presenter.radio and KEY("learn.order.shown") not in [b.key for b in presenter.button]


@pytest.mark.slow
def test_a_plan_is_one_class_over_the_cards_of_several_lessons(visit: Visit) -> None:
    lead = visit("learn")
    lead.expander(key=KEY("learn.plans"))  # closed: its body is drawn once it is opened
    lead.session_state[KEY("learn.plans")] = True
    lead.run()
    press(lead, "class.teach_plan.45")
    planned = planned_cards(45)
    room = code(lead)
    stage = class_socket.rooms().stage(room)
    assert (stage.lesson, stage.card, stage.plan) == (planned[0].slug, planned[0].card, 45)
    assert (stage.number, stage.count) == (0, len(planned)) and round(planned[-1].until, 6) == 45
    press(lead, "class.begin")
    for before, after in pairwise(planned[:6]):  # into the next lesson
        press(lead, f"learn.next.{before.card}")
        stage = class_socket.rooms().stage(room)
        assert (stage.lesson, stage.card) == (after.slug, after.card)
    clock = i18n.text("en", "class.clock_join", now=0, all=45, until=JOINING_MIN)
    assert f"⏱ {clock}" in [each.value for each in lead.markdown]
    where = i18n.text("en", "learn.where", number=6, cards=len(planned))
    assert card(visit("learn", room=room))["where"] == where
    press(lead, "class.end")
    assert (
        "attnviz.class.plan" not in lead.session_state
        or not lead.session_state["attnviz.class.plan"]
    )


@pytest.mark.slow
def test_each_of_a_class_trains_a_seed_and_the_wall_shows_when_circuits_are_born(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores are the class's own messages: what each training tells the room."""

    def at_once(seed: int, tell: Any) -> None:
        tell((40, 100, 200, 400, 600 + seed, 900))

    monkeypatch.setattr(trainings, "start_birth", at_once)
    presenter = visit("learn", lesson="birth", card="needs")
    press(presenter, "class.teach")
    followers = [visit("learn", room=code(presenter)) for _ in range(2)]
    assert KEY("class.train_mine") not in [each.key for each in followers[0].button]
    press(presenter, "class.train")
    for follower in followers:
        follower.run()
        press(follower, "class.train_mine")
    curves = class_socket.rooms().curves(code(presenter))
    assert curves == {seed: (40, 100, 200, 400, 600 + seed, 900) for seed in (100, 101)}
    step = 8 * (3 + 100 / 300)  # between 400 and 700 thousandths
    assert activity.born(curves[100]) == pytest.approx(step)
    wall = visit("learn", room=code(presenter), wall="1")
    presenter.run()
    for app in (wall, presenter):
        text = "\n".join(each.value for each in app.markdown)
        assert i18n.text("en", "class.births", count=2, born=2) in text
        assert i18n.text("en", "class.births_when", first=27, median=27, last=27) in text
    own = "\n".join(each.value for each in followers[0].markdown)
    assert i18n.text("en", "class.born", seed=100, step=27) in own
    press(presenter, "class.together_end")
    assert class_socket.rooms().stage(code(presenter)).activity == ""


def test_short_answers_are_read_by_the_teacher_before_the_wall_shows_them(
    presenter: AppTest, visit: Visit
) -> None:
    press(presenter, "class.write")
    follower, wall = (visit("learn", room=code(presenter), wall=wall) for wall in ("", "1"))
    box = follower.text_input(key=KEY("class.sentence"))
    assert box.label == i18n.text("en", "class.short")
    box.set_value(HOSTILE[:100]).run()
    assert not follower.exception
    presenter.run()
    wall.run()

    def text(app: AppTest) -> str:
        return "\n".join(each.value for each in app.markdown)

    assert i18n.text("en", "class.answers", count=1) in text(presenter)
    assert messages.plain(" ".join(HOSTILE[:100].split()))[:20] in text(presenter)
    assert i18n.text("en", "class.answers_wait") in text(wall)
    press(presenter, "class.read")
    wall.run()
    assert i18n.text("en", "class.answers_wait") not in text(wall)
    assert messages.plain(" ".join(HOSTILE[:100].split()))[:20] in text(wall)
    press(presenter, "class.vote")
    follower.run()
    ballot = follower.radio(key=KEY("class.ballot"))
    ballot.set_value(class_socket.rooms().sentences(code(presenter))[0]).run()
    assert not follower.exception and not follower.error
    wall.run()
    assert "**1** · " in text(wall)
    press(presenter, "class.together_end")
    assert class_socket.rooms().sentences(code(presenter)) == ()


def _numbers(encoded: dict[str, str]) -> list[float]:
    """The numbers of an array in a chart."""
    return [*np.frombuffer(base64.b64decode(encoded["bdata"]), encoded["dtype"])]


def test_sentences_with_it_are_ranked_by_what_the_head_gives_their_noun(visit: Visit) -> None:
    presenter = visit("learn", lesson="ask", card="real")
    press(presenter, "class.teach")
    press(presenter, "class.it")
    said = {
        "The animal was tired because it ran.": "animal",
        "The animal didn't cross the street because it was too tired.": "animal",
    }
    followers = [visit("learn", room=code(presenter)) for _ in range(3)]
    for follower, (sentence, noun) in zip(followers, said.items(), strict=False):
        follower.text_input(key=KEY("class.sentence")).set_value(sentence).run()
        words = follower.pills(KEY("class.it_stands_for"))
        assert noun in words.options and "it" not in words.options
        words.set_value(noun).run()
        assert not follower.exception and not follower.error
    followers[2].text_input(key=KEY("class.sentence")).set_value(HOSTILE[:60]).run()
    assert i18n.text("en", "class.it_missing") in [one.value for one in followers[2].caption]
    wall = visit("learn", room=code(presenter), wall="1")
    presenter.run()
    found = sorted(
        (course_lessons.pointed(*pair) for pair in said.items()),
        key=lambda one: -one.weight if one else 0,
    )
    for app in (presenter, wall):
        lines = "\n".join(one.value for one in app.markdown)
        assert i18n.text("en", "class.it_title", count=2, head="L3.H1") in lines
        places = [
            lines.index(f"**{one.weight:.2f}** (chance {one.chance:.2f})") for one in found if one
        ]
        assert places == sorted(places) and len(places) == 2
        (drawn,) = app.get("plotly_chart")
        head, chance = json.loads(drawn.proto.spec)["data"]
        assert (head["name"], chance["name"]) == ("L3.H1", "chance")
        assert _numbers(head["y"]) == pytest.approx([one.weight for one in found if one])
        assert _numbers(chance["y"]) == pytest.approx([one.chance for one in found if one])
        assert HOSTILE[:20] not in lines
    press(presenter, "class.together_end")
    assert class_socket.rooms().sentences(code(presenter)) == ()


@pytest.mark.slow
def test_a_head_is_taken_into_the_project_from_the_switchboard(visit: Visit) -> None:
    text = "Tom gave the red ball to Anna. Anna gave the red"
    app = visit("switches", model="stories", text=text, changes="L2.H1.mixed=mean")
    press(app, "project.defend")
    kept = app.session_state["attnviz.learn.project"]
    assert (kept.model, str(kept.name)) == ("stories", "L2.H1") and text in kept.texts
    learn = visit("learn")
    learn.session_state["attnviz.learn.project"] = kept
    learn.session_state["attnviz.learn.project.opened"] = True
    learn.run()
    press(learn, "project.test")
    assert i18n.text("en", "project.head", head="L2.H1", model="stories") in "\n".join(
        one.value for one in learn.markdown
    )
    assert len(learn.table) == 1 and text in str(learn.table[0].value)
