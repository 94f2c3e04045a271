"""A class over two sessions: one leads, the other follows, both through the rooms of the server."""

from base64 import b64decode
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.app.page_parts.classroom import seats
from attnviz.app.server import class_socket, trainings
from attnviz.app.server.trainings import Training
from attnviz.app.session.view import Seat, View
from attnviz.pictures import shelf
from attnviz.pictures.shared.buffer import unpack
from attnviz.teach.course import lesson
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts
from tests.pages.a_class import (
    EN,
    JA,
    KEY,
    answer,
    as_reported,
    bars,
    card,
    code,
    option_bars,
    place,
    press,
    shares,
    title,
    turn,
    view,
    words,
)
from tests.pages.conftest import Visit, beside_bar, on_shelf, open_lesson, parameters

pytestmark = pytest.mark.usefixtures("fresh_rooms")


def test_opening_a_class_shows_code_and_link_and_keeps_the_key_to_the_presenter(
    presenter: AppTest, visit: Visit
) -> None:
    room, host = place(presenter).room, place(presenter).host
    assert class_socket.rooms().is_presenter(room, host) and len(room) == 7
    assert parameters(presenter).keys() == {"lesson", "card", "room"}
    assert presenter.title[0].value == room
    assert presenter.code[0].value.endswith(f"/learn?room={room}")
    follower = visit("learn", **parameters(presenter))  # the address that a teacher may copy
    assert not place(follower).host and parameters(follower).keys() == {"lesson", "card", "room"}
    assert KEY("class.reveal") not in [each.key for each in follower.button]


def test_an_old_address_with_keys_works_once_and_is_cleaned(
    presenter: AppTest, visit: Visit
) -> None:
    again = visit("learn", **parameters(presenter), host=place(presenter).host)
    assert place(again).host == place(presenter).host and "host" not in parameters(again)
    press(again, "learn.next.order")
    assert class_socket.rooms().stage(code(presenter)).card == "sharper"
    follower = visit("learn", room=code(presenter))
    returned = visit("learn", room=code(presenter), seat=place(follower).seat)
    assert place(returned).seat == place(follower).seat and "seat" not in parameters(returned)


def test_take_kept_gives_back_the_seat_or_the_key_that_the_tab_kept(
    presenter: AppTest, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = place(visit("learn", room=code(presenter)))
    states: dict[str, Seat] = {}

    def reloaded(**value: object) -> Seat:
        app = visit("learn", room=code(presenter))
        states["now"] = place(app)
        monkeypatch.setattr(seats.current, "view", lambda: replace(View(), classroom=states["now"]))
        monkeypatch.setattr(
            seats.current,
            "update",
            lambda view: states.update(now=view.classroom),
        )
        seats.take_kept({"code": code(presenter), **value})
        monkeypatch.undo()
        return states["now"]

    assert reloaded(heed="stage", seat=first.seat) == first
    assert reloaded(heed="changes", seat=place(presenter).host).host == place(presenter).host
    for forged in ({"heed": "changes", "seat": "guessed"}, {"heed": "stage", "seat": 7}, {}):
        assert not reloaded(**forged).host
    tally = class_socket.rooms().tally(code(presenter), ("block", "order"))
    assert tally.present == 4  # the first one, and the three whose tab had kept nothing true


def test_a_follower_shows_the_presenters_card_in_its_own_language(
    presenter: AppTest, visit: Visit
) -> None:
    follower = visit("learn", room=code(presenter), lang="ja")
    assert title(follower) == JA.of("order", "title")
    press(presenter, "learn.next.order")
    assert title(follower.run()).startswith(JA.of("sharper", "title").partition("[[")[0])
    late = visit("learn", room=code(presenter), lang="ko")
    assert title(late) == lesson_texts("block", "ko").of("sharper", "title")


def test_what_the_presenter_sets_is_set_for_all(presenter: AppTest, visit: Visit) -> None:
    turn(presenter, "sharper")
    assert not presenter.select_slider, "an experiment waits for its prediction"
    assert not card(visit("learn", room=code(presenter)))["settings"]
    presenter.button(key=KEY("class.reveal")).click().run()
    presenter.select_slider(key=KEY("learn.sharper.factor")).set_value(5.0).run()
    follower = visit("learn", room=code(presenter))
    label = EN.of("sharper", "control.factor")
    assert card(follower)["settings"] == [f"{label}: 5"] and not follower.select_slider
    presenter.select_slider(key=KEY("learn.sharper.factor")).set_value(0.0).run()
    assert card(follower.run())["settings"] == [f"{label}: 0"]


@pytest.mark.slow
def test_a_browser_that_is_behind_does_not_turn_the_class_back(presenter: AppTest) -> None:
    """Its listener asks for a run before it has drawn the card that the presenter went to."""
    press(presenter, "class.begin")
    behind = as_reported(presenter)
    press(presenter, "learn.next.order")
    presenter._run(behind)
    assert class_socket.rooms().stage(code(presenter)).card == "sharper"
    assert parameters(presenter)["card"] == "sharper"


def test_a_second_click_on_next_before_the_page_has_turned_skips_no_card(
    presenter: AppTest,
) -> None:
    presenter.button(key=KEY("learn.next.order")).click()
    click = as_reported(presenter)
    for _ in range(2):
        presenter._run(click)
        assert class_socket.rooms().stage(code(presenter)).card == "sharper"


def test_answers_are_counted_and_judged_only_after_the_reveal(
    presenter: AppTest, visit: Visit
) -> None:
    one, two = (visit("learn", room=code(presenter)) for _ in range(2))
    orders = [[option["name"] for option in card(app)["options"]] for app in (one, two)]
    assert orders[0] == orders[1], "drawn from the code of the class"
    listed = "\n".join(f"- {EN.of('order', f'option.{name}')}" for name in orders[0])
    assert listed in [each.value for each in presenter.markdown] and not presenter.radio
    answer(one, "sums")
    answer(two, "error")
    answer(two, "nothing")  # it may change
    for app in (one, two):
        shown = card(app)
        assert not (shown["revealed"] or shown["right"] or shown["feedback"] or shown["reveal"])
        assert not view(app)["judged"]
    press(presenter, "class.begin")
    assert not bars(presenter), "the page may be projected"
    here = i18n.text("en", "class.here", present=2, answered=2)
    everyone = i18n.text("en", "class.whole")
    assert f"**{here} · ✓ {everyone}**" in [each.value for each in presenter.markdown]
    press(presenter, "class.show")
    assert sorted(bars(presenter)) == sorted(option_bars(nothing=1, sums=1))
    assert not shares(one.run())
    press(presenter, "class.reveal")
    assert shares(one.run()) == {"right": 1, "not_nothing": 1, "not_error": 0}
    press(presenter, "class.show")
    assert not shares(one.run()) and bars(presenter), "hidden from the class, not from who leads"
    assert (view(one)["own"], view(one)["judged"]) == ("sums", "right")
    assert (view(two.run())["own"], view(two)["judged"]) == ("nothing", "not_nothing")
    assert words(card(two)["feedback"]["not_nothing"]) == EN.of("order", "feedback.nothing")
    answer(two, "sums")
    assert view(two)["own"] == "nothing", "after the reveal no answer counts"


def test_an_answer_that_does_not_fit_the_stage_is_not_taken(
    presenter: AppTest, visit: Visit
) -> None:
    follower = visit("learn", room=code(presenter))
    for text, other in (("sums", {"card": "mix"}), ("nonsense", {}), ("<b>", {"lesson": 7})):
        assert view(answer(follower, text, **other))["own"] == ""
    tally = class_socket.rooms().tally(code(presenter), ("block", "order"))
    assert (tally.present, tally.answered) == (1, 0)


def test_a_free_question_is_not_made_a_choice_before_the_reveal(
    presenter: AppTest, visit: Visit
) -> None:
    turn(presenter, "softmax")
    press(presenter, "class.show")
    assert bars(presenter) == []
    follower = visit("learn", room=code(presenter))
    answer(follower, "0.107")
    assert bars(presenter.run()) == [r"0\.107: 1"]
    press(presenter, "class.reveal")
    shown = bars(presenter.run())
    assert len(shown) == 4 and r"✓ **Right.** 0\.107: 1" in shown


@pytest.mark.slow
def test_who_comes_back_has_its_seat_and_its_answer(presenter: AppTest, visit: Visit) -> None:
    follower = visit("learn", room=code(presenter))
    answer(follower, "error")
    again = visit("learn", room=code(presenter), seat=place(follower).seat)
    assert place(again) == place(follower)
    answer(again, "nothing")
    press(presenter, "class.begin")
    press(presenter, "class.show")
    assert sorted(bars(presenter)) == sorted(option_bars(nothing=1))
    assert beside_bar(presenter)
    tally = class_socket.rooms().tally(code(presenter), ("block", "order"))
    assert (tally.present, tally.answered) == (1, 1)


def test_the_presenter_may_go_to_another_lesson(presenter: AppTest, visit: Visit) -> None:
    press(presenter, "learn.all")
    open_lesson(presenter, "patches")
    follower = visit("learn", room=code(presenter))
    assert card(follower)["lesson_title"] == lesson_texts("patches", "en").title


def test_a_cell_that_the_presenter_points_at_is_marked_for_all(
    presenter: AppTest, visit: Visit
) -> None:
    turn(presenter, "products")
    room, host = code(presenter), place(presenter).host
    stage = class_socket.rooms().stage(room)
    assert stage.selection == ""
    (board,) = headers(presenter, "panels")
    assert board["reports"] and board["pointed"] is None
    class_socket.rooms().show(room, host, replace(stage, selection="learn.products.0/2/1/0"))
    (picture,) = card(visit("learn", room=room))["pictures"]
    board = unpack(b64decode(picture["data"]))[0]
    assert board["pointed"] == [2, 1, 0] and not board["reports"]


def headers(app: AppTest, part: str) -> list[dict[str, object]]:
    found = [unpack(each.proto.bytes)[0] for each in beside_bar(app)]
    return [header for header in found if part in header]


def test_joining_by_code_takes_any_way_of_typing_it(presenter: AppTest, visit: Visit) -> None:
    app = visit("learn")
    join(app, code(presenter).lower().replace("-", " "))
    assert title(app) == EN.of("order", "title")
    press(app, "class.leave")
    assert place(app) == Seat() and "room" not in parameters(app)


def test_the_join_box_stands_above_the_lessons(visit: Visit) -> None:
    """The code of a class is typed above, and a phone shows it at once."""
    app = visit("learn")
    order = [getattr(each.proto, "component_name", each.type) for each in app.main if each.proto]
    assert order.index("text_input") < order.index(shelf.CANVAS.element)


def test_wrong_codes_are_counted_until_no_more_is_looked_up(
    presenter: AppTest, visit: Visit
) -> None:
    guesser = visit("learn")
    for number in range(class_socket.rooms().bounds.wrong_codes + 1):
        guesser = join(guesser, f"AAAA{'23456789ABC'[number]}Z").run().run()
        assert guesser.error
        if number < class_socket.rooms().bounds.wrong_codes:
            assert "AAA" in guesser.error[0].value
            _, kept = guesser.session_state["attnviz.class.refused"]
            assert kept.__traceback__ is None, "a kept error holds the frames of the page's runs"
    assert guesser.error[0].value == i18n.text("en", "error.codes_tried")
    assert join(guesser, code(presenter)).error, "even the right code waits a minute"
    assert not visit("learn", room=code(presenter)).error, "for others it does not"


def join(app: AppTest, typed: str) -> AppTest:
    app.text_input(key=KEY("class.code")).set_value(typed)
    next(each for each in app.button if each.label == i18n.text("en", "class.join")).click().run()
    return app


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_class_that_is_over_says_so_and_shows_the_way_out(
    visit: Visit, lang: i18n.Language
) -> None:
    app = visit("learn", room="ABC-DEF", lang=lang)
    said = i18n.text(lang, "error.room_unknown", asked="ABC-DEF")
    assert [each.value.replace("\\", "") for each in app.error] == [said]
    app.button(key=KEY("class.out")).click().run()
    assert not app.error and on_shelf(app)


def test_ending_a_class_ends_it_for_all_with_a_card(presenter: AppTest, visit: Visit) -> None:
    follower = visit("learn", room=code(presenter))
    answer(follower, "sums")
    press(presenter, "class.end")
    assert place(presenter) == Seat() and "room" not in parameters(presenter)
    follower.run()
    assert not follower.error and follower.header[0].value == i18n.text("en", "class.over")
    text = "\n".join(each.value for each in follower.markdown)
    assert with_formulas(EN.keep) in text
    assert i18n.text("en", "learn.score", right=1, questions=1) in text
    press(follower, "class.next_lesson")
    assert parameters(follower)["lesson"] == "scale" and place(follower) == Seat()


def test_the_end_of_a_class_over_two_lessons_counts_the_answers_to_both(
    presenter: AppTest, visit: Visit
) -> None:
    follower = visit("learn", room=code(presenter))
    answer(follower, "sums")
    press(presenter, "learn.all")
    open_lesson(presenter, "where")
    answer(follower.run(), "word")
    press(presenter, "class.end")
    follower.run()
    text = "\n".join(each.value for each in follower.markdown)
    assert i18n.text("en", "learn.score", right=1, questions=2) in text
    keeps = [with_formulas(lesson_texts(slug, "en").keep) for slug in ("where", "block")]
    assert all(keep in text for keep in keeps)
    thanks = i18n.text("en", "class.thanks", lesson=EN.title)
    assert thanks not in text


def test_a_presenter_is_told_of_a_lesson_and_a_card_that_are_none(
    presenter: AppTest, visit: Visit
) -> None:
    opened = {**parameters(presenter), "host": place(presenter).host}
    app = visit("learn", **{**opened, "card": "nothing"})
    assert app.warning[0].value == i18n.text("en", "notice.adjusted", names="card")
    app = visit("learn", **{**opened, "lesson": "nothing"})
    assert "nothing" in app.error[0].value


def test_a_wrong_key_leads_nothing(presenter: AppTest, visit: Visit) -> None:
    forged = visit("learn", room=code(presenter), host="guessed", lesson="block", card="mix")
    assert title(forged) == EN.of("order", "title")
    assert class_socket.rooms().stage(code(presenter)).card == "order"


@pytest.mark.some(1)
@pytest.mark.parametrize("name", [recipe.name for recipe in lesson("block").recipes])
def test_every_card_can_be_taught(presenter: AppTest, visit: Visit, name: str) -> None:
    turn(presenter, name)
    follower = visit("learn", room=code(presenter))
    assert not presenter.error and not follower.error
    if KEY("class.reveal") in [each.key for each in presenter.button]:
        press(presenter, "class.reveal")
        assert card(follower.run())["reveal"]


def test_a_worksheet_can_be_had_below_a_card(visit: Visit) -> None:
    app = visit("learn", lesson="block")
    assert app.number_input(key=KEY("worksheet.seed")).value == 1
    assert app.get("download_button")


def test_a_head_that_the_presenter_chose_is_the_class_s_until_it_looks_around(
    visit: Visit,
) -> None:
    lead = visit("learn", lesson="ask", card="real", answers="real=%3F")
    lead = lead.button(key=KEY("class.teach")).click().run()
    room, host = code(lead), place(lead).host
    stage = class_socket.rooms().stage(room)
    own = parameters(lead)
    assert stage.selection == f";{own['layer']}.{own['head']}.."
    class_socket.rooms().show(room, host, replace(stage, selection=";2.3.1."))
    follower = visit("learn", room=room)
    found = parameters(follower)
    assert (found["layer"], found["head"], found["query"]) == ("2", "3", "1")
    assert view(follower)["chosen"] == {"layer": 2, "head": 3, "query": 1, "key": None}
    class_socket.rooms().show(room, host, replace(stage, selection=";4.0.."))
    found = parameters(follower.run())
    assert (found["layer"], found["head"]) == ("4", "0") and "query" not in found


def test_a_class_watches_the_presenters_own_training(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead = visit("learn", lesson="birth", card="live")
    lead = lead.button(key=KEY("class.teach")).click().run()
    press(lead, "class.reveal")
    stage = class_socket.rooms().stage(code(lead))
    assert stage.selection == ";run.0"
    follower = visit("learn", room=code(lead))
    assert [each.value for each in follower.info] == [i18n.text("en", "birth.led")]
    assert KEY("birth.0") not in [each.key for each in follower.button]
    watched = Training(0, 10)
    watched.job.stop()
    monkeypatch.setattr(trainings, "training", lambda seed, owner="": watched)
    press(lead, "birth.0")
    assert class_socket.rooms().stage(code(lead)).selection == ";run.1"
    follower.run()
    assert [each.value for each in follower.info] == [i18n.text("en", "birth.stopped")]
    assert KEY("birth.0.again") not in [each.key for each in follower.button]
    press(lead, "birth.0.again")
    assert class_socket.rooms().stage(code(lead)).selection == ";run.2"
