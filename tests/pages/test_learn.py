"""The page Learn: the list, the cards, answers with their feedback, and links that restore all."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.app.server import course_lessons
from attnviz.app.session import widgets
from attnviz.pictures.shared.buffer import unpack
from attnviz.teach.course import SLUGS, lesson
from attnviz.teach.course.recipe import CardInputs
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.card import RealHead
from attnviz.teach.lessons.cards.progress import parse
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import fill, lesson_texts
from tests.pages.a_class import pills, turn
from tests.pages.conftest import Visit, beside_bar, on_shelf, open_lesson, parameters, sent
from tests.support.cases import mostly_slow

KEY = widgets.key
EN = lesson_texts("block", "en")


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_list_names_every_lesson(visit: Visit, lang: i18n.Language) -> None:
    app = visit("learn", lang=lang)
    assert [title.value for title in app.title] == [i18n.text(lang, "page.learn.title")]
    shown = on_shelf(app)
    assert list(shown) == list(SLUGS)
    assert [each["title"] for each in shown.values()] == [
        lesson_texts(slug, lang).title for slug in SLUGS
    ]
    assert [slug for slug, each in shown.items() if each["is_next"]] == [SLUGS[0]]
    open_lesson(app, "block")
    texts = lesson_texts("block", lang)
    assert [title.value for title in app.title] == [texts.title]
    assert app.header[0].value == texts.of("mix", "title")
    assert parameters(app)["lesson"] == "block"
    assert not app.error


@pytest.mark.some(5)
@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize(
    ("lang", "n_cards"), mostly_slow([("en", 3), ("en", None), ("ja", None)], 1)
)
def test_every_card_opens(
    visit: Visit, slug: str, lang: i18n.Language, n_cards: int | None
) -> None:
    """Each card of each lesson, first with its answer kept back, then with it shown.

    In every run the last three of a lesson: what cards hold is tested in `tests/unit/teach/course`.
    """
    texts = lesson_texts(slug, lang)
    app = visit("learn", lesson=slug, lang=lang)
    recipes, asked = lesson(slug).recipes, 0
    for recipe in recipes if n_cards is None else recipes[-n_cards:]:
        turn(app, recipe.name)
        assert not app.exception and not app.error, recipe.name
        title = with_formulas(texts.of(recipe.name, "title").partition("[[")[0])
        assert app.header[0].value.startswith(title)
        shown = [button for button in app.button if button.key == KEY(f"learn.{recipe.name}.shown")]
        if shown:
            shown[0].click().run()
            assert not app.exception and not app.error, recipe.name
            assert len(app.success) == 1
            asked += 1
    answered = parse(parameters(app).get("answers", ""))
    assert len(answered) == asked and set(answered.values()) <= {"?"}
    assert asked >= (3 if n_cards is None else 0)


def test_a_wrong_number_gets_the_feedback_of_its_mistake(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="softmax")
    header, _ = sent(app)
    assert [panel["hidden"] for panel in header["panels"]] == [False, True]
    app.text_input(key=KEY("learn.softmax.answer")).set_value("0,333").run()
    template = EN.of("softmax", "feedback.divided")
    exponentials = {"exp_first": np.exp(1.5 * 2**0.5), "exp_second": np.exp(3 * 2**0.5)}
    assert app.warning[0].value.endswith(fill(template, exponentials))
    assert not app.success
    assert sent(app)[0]["panels"][1]["hidden"]
    app.text_input(key=KEY("learn.softmax.answer")).set_value("0.11").run()
    assert not app.warning
    assert "0.107" in app.success[0].value
    header, arrays = sent(app)
    assert not header["panels"][1]["hidden"]
    assert arrays["panels.1.values"][1, 0] == pytest.approx(0.107042, abs=1e-6)
    assert parse(parameters(app)["answers"]) == {"softmax": "0.11!"}


def test_what_is_no_number_is_said(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="softmax")
    app.text_input(key=KEY("learn.softmax.answer")).set_value("about a half").run()
    assert app.warning[0].value == i18n.text("en", "learn.no_number")
    assert "answers" not in parameters(app)


def test_a_choice_is_judged_and_an_answer_can_be_shown(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="order")
    app.radio(key=KEY("learn.order.answer")).set_value("nothing").run()
    assert app.warning[0].value.endswith(EN.of("order", "feedback.nothing"))
    app.button(key=KEY("learn.order.shown")).click().run()
    assert "0.927" in app.success[0].value
    assert app.radio(key=KEY("learn.order.known")).value == "sums"


@pytest.mark.slow
def test_cuts_in_another_row_are_captured_for_themselves(visit: Visit) -> None:
    app = visit("learn", lesson="claims", card="backup", answers="backup=hardly")
    assert "instead of “bad”, in all heads: 8.31" in app.success[0].value


def test_a_control_changes_its_card(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="sharper")
    assert not app.select_slider, "an experiment waits for its prediction"
    app.button(key=KEY("learn.sharper.shown")).click().run()
    before = sent(app)[1]["panels.1.values"]
    app.select_slider(key=KEY("learn.sharper.factor")).set_value(0.0).run()
    _, arrays = sent(app)
    assert (before != arrays["panels.1.values"]).any()
    assert arrays["panels.1.values"][3] == pytest.approx(
        [0.25] * 4
    )  # all scores 0: every key alike
    assert arrays["panels.0.values"][3] != pytest.approx([0.25] * 4)  # the control stays
    assert parse(parameters(app)["values"]) == {"factor": "0.0"}


def test_a_link_restores_card_values_and_answers(visit: Visit) -> None:
    kept = {
        "lesson": "block",
        "card": "sharper",
        "values": "factor=5.0",
        "answers": "order=nothing&sharper=even",
    }
    app = visit("learn", **kept)
    assert app.header[0].value == EN.of("sharper", "title")
    assert app.select_slider(key=KEY("learn.sharper.factor")).value == 5.0
    assert {name: parameters(app)[name] for name in kept} == kept
    turn(app, "order")
    assert app.radio(key=KEY("learn.order.answer")).value == "nothing"
    assert app.warning


def test_answers_are_kept_while_another_lesson_is_open(visit: Visit) -> None:
    app = visit("learn", lesson="block", answers="order=sums")
    app.button(key=KEY("learn.all")).click().run()
    assert "answers" not in parameters(app)
    open_lesson(app, SLUGS[1])
    assert "answers" not in parameters(app)
    app.button(key=KEY("learn.all")).click().run()
    open_lesson(app, "block")
    assert parse(parameters(app)["answers"]) == {"order": "sums"}


def test_the_shelf_tells_how_each_question_stands(visit: Visit) -> None:
    """Judged where the card is drawn, and kept; the next lesson is the first with an open one."""
    app = visit("learn", lesson="block", answers="order=nothing&mask=10&sharper=?")
    app.button(key=KEY("learn.all")).click().run()
    marks = dict(zip(asked("block"), on_shelf(app)["block"]["marks"], strict=True))
    assert [marks[name] for name in ("order", "mask", "sharper", "mix")] == [
        "wrong",
        "right",
        "shown",
        "open",
    ]


def test_the_shelf_takes_no_lesson_that_there_is_not(visit: Visit) -> None:
    app = visit("learn")
    open_lesson(app, "../etc")
    assert list(on_shelf(app)) == list(SLUGS) and "lesson" not in parameters(app)


def asked(slug: str) -> list[str]:
    texts = lesson_texts(slug, "en")
    return [name for name in texts.cards if texts.has(name, "question")]


def test_a_card_leads_to_a_real_head(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="mix", answers="mix=%3F")
    app.button(key=KEY("learn.try")).click().run()
    assert not app.exception
    found = parameters(app)
    assert (found["layer"], found["head"], found["lesson"]) == ("3", "1", "block")


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_an_unknown_lesson_is_said_above_the_list(visit: Visit, lang: i18n.Language) -> None:
    app = visit("learn", lesson="nothing", lang=lang)
    known = ", ".join(SLUGS)
    said = i18n.text(lang, "error.unknown_lesson", asked="nothing", known=known)
    assert app.error[0].value.replace("\\", "") == said
    assert "block" in on_shelf(app)


@pytest.mark.parametrize("card", ["nothing", "../x", "<b>"])
def test_an_unknown_card_is_the_first_one_and_that_is_said(visit: Visit, card: str) -> None:
    app = visit("learn", lesson="block", card=card)
    assert app.header[0].value == EN.of("mix", "title")
    assert [each.value for each in app.warning] == [adjusted("card")]
    assert "card" not in parameters(app)


def test_an_old_address_opens_the_card_in_the_lesson_that_has_it_now(visit: Visit) -> None:
    answers = "roles=output&divisor=1"
    app = visit("learn", lesson="ask", card="divisor", answers=answers)
    assert app.header[0].value == lesson_texts("errata", "en").of("divisor", "title")
    assert all("✗" in box.value for box in app.warning)  # a verdict, no notice on the address
    assert not app.exception
    found = parameters(app)
    assert (found["lesson"], found["card"]) == ("errata", "divisor")
    assert parse(found["answers"]) == {"divisor": "1"}


def test_what_a_card_does_not_know_is_replaced_and_said(visit: Visit) -> None:
    answers = "order=nothing&gone=1"
    app = visit("learn", lesson="block", card="sharper", values="factor=1.7", answers=answers)
    assert app.warning[0].value == adjusted("values", "answers")
    found = parameters(app)
    assert "values" not in found and parse(found["answers"]) == {"order": "nothing"}
    fine = visit("learn", lesson="block", card="sharper", values="factor=5.0", answers="order=sums")
    assert not fine.warning


def adjusted(*names: str) -> str:
    return i18n.text("en", "notice.adjusted", names=", ".join(names))


def way(app: AppTest) -> list[str]:
    return [option.content for option in pills(app).proto.options]


def test_the_way_tells_right_from_wrong_and_shown(visit: Visit) -> None:
    app = visit("learn", lesson="block", answers="mask=%3F&sizes=512&order=sums")
    assert way(app) == ["1", "2", "3", "4", "5 •", "6", "7 ✗", "8", "9", "10 ✓", "11"]
    said = [each.value for each in app.caption]
    assert "Card 1 of 11" in said
    assert "Marks: ✓ right, ✗ not right yet, • answer shown" in said
    header, _ = next(
        found
        for found in (unpack(each.proto.bytes) for each in beside_bar(app))
        if "arrivals" in found[0]
    )
    assert header["labels"][4:10] == [
        "Card 5 of 11 · answer shown",
        "Card 6 of 11",
        "Card 7 of 11 · not right yet",
        "Card 8 of 11",
        "Card 9 of 11",
        "Card 10 of 11 · right",
    ]
    turn(app, "sizes")
    app.text_input(key=KEY("learn.sizes.answer")).set_value("64").run()
    assert way(app)[6] == "7 ↻"


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_marks_are_explained_only_where_there_are_some(visit: Visit, lang: i18n.Language) -> None:
    begins = i18n.text(lang, "learn.marks", signs="")
    explained = [
        [each.value for each in app.caption if each.value.startswith(begins)]
        for app in (
            visit("learn", lesson="block", lang=lang),
            visit("learn", lesson="block", lang=lang, answers="order=sums"),
        )
    ]
    right = i18n.text(lang, "learn.marks", signs=f"✓ {i18n.text(lang, 'learn.is_right')}")
    assert explained == [[], [right]]


@pytest.mark.parametrize(
    ("slug", "card", "asking"),
    [
        ("masks", "added", [True]),
        ("claims", "effect", [True, True, True]),
        ("block", "products", [False, False, True]),
        ("birth", "by_hand", [False, True]),
    ],
)
def test_the_prompt_names_the_panel_unless_every_panel_takes_the_answer(
    visit: Visit, slug: str, card: str, asking: list[bool]
) -> None:
    app = visit("learn", lesson=slug, card=card)
    panels = next(of["panels"] for of in headers(app) if "panels" in of)
    assert [panel["asks"] for panel in panels] == asking
    said = [each.value for each in app.caption]
    named = next(panel["caption"] for panel in panels if panel["asks"])
    if all(asking):
        assert i18n.text("en", "learn.click_above") in said
    else:
        assert i18n.text("en", "learn.click_in", panel=named) in said


def headers(app: AppTest) -> list[dict[str, Any]]:
    return [unpack(each.proto.bytes)[0] for each in beside_bar(app)]


def test_to_show_the_answer_is_a_button_to_be_seen(visit: Visit) -> None:
    app = visit("learn", lesson="block")
    assert app.button(key=KEY("learn.mix.shown")).proto.type == "secondary"


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_list_says_where_to_teach_and_to_print(visit: Visit, lang: i18n.Language) -> None:
    names = {
        "teach": i18n.text(lang, "class.teach_title"),
        "worksheet": i18n.text(lang, "worksheet.title"),
    }
    said = i18n.text(lang, "class.teach_list", **names)
    assert all(name in said for name in names.values())
    assert said in [each.value for each in visit("learn", lang=lang).markdown]


def test_the_right_cell_is_pointed_out_once_it_is_shown(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="products")
    assert sent(app)[0]["answers"] == []
    app.button(key=KEY("learn.products.shown")).click().run()
    assert sent(app)[0]["answers"] == [[3, 1]]


@pytest.mark.parametrize(
    ("slug", "card", "scaled"),
    [
        ("heads", "louder", (0, 1)),
        ("positions", "broken", (0, 1)),
        ("errata", "divisor", (0, 1)),
    ],
)
def test_before_and_after_share_their_colours(
    visit: Visit, slug: str, card: str, scaled: tuple[int, int]
) -> None:
    header, arrays = sent(visit("learn", lesson=slug, card=card, answers=f"{card}=%3F"))
    before, after = (header["panels"][place]["most"] for place in scaled)
    largest = [
        float(np.abs(values[np.isfinite(values)]).max())
        for values in (arrays[f"panels.{place}.values"] for place in scaled)
    ]
    assert before == after == pytest.approx(max(largest))
    assert largest[0] != largest[1]


def test_a_question_can_be_asked_again(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="order", answers="order=sums")
    assert app.success and way(app)[9] == "10 ✓"
    app.button(key=KEY("learn.order.again")).click().run()
    assert not app.success and way(app)[9] == "10"
    assert app.radio(key=KEY("learn.order.answer")).value is None
    assert not app.radio(key=KEY("learn.order.answer")).disabled


def test_a_lesson_opens_where_it_was_left_or_from_the_start(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="mask", answers="order=sums")
    for opened, title in (("open", "mask"), ("from_start", "mix")):
        app.button(key=KEY("learn.all")).click().run()
        assert on_shelf(app)["block"]["is_left"]
        open_lesson(app, "block", from_start=opened == "from_start")
        assert app.header[0].value == EN.of(title, "title")
        assert parse(parameters(app)["answers"]) == {"order": "sums"}


def test_a_lesson_that_was_finished_begins_with_its_first_card(visit: Visit) -> None:
    app = visit("learn", lesson="block", card=lesson("block").recipes[-1].name)
    app.button(key=KEY(f"learn.next.{lesson('block').recipes[-1].name}")).click().run()
    assert not on_shelf(app)["block"]["is_left"]
    open_lesson(app, "block")
    assert app.header[0].value == EN.of("mix", "title")


def in_strip(app: AppTest) -> list[Any]:
    """The links in the line below the bar."""
    return list(app.container(key=widgets.key("strip")).get("page_link"))


def test_the_real_head_leads_back_to_its_card(visit: Visit) -> None:
    app = visit("learn", lesson="block", card="mix", answers="mix=%3F", text="Mine.", head="3")
    app.button(key=KEY("learn.try")).click().run()
    assert app.title[0].value == i18n.text("en", "page.steps.title")
    assert "text" not in parameters(app)  # the model's first example, not what was read before
    (back,) = (link.proto for link in in_strip(app))
    assert back.label == i18n.text("en", "learn.back_to", number=1, title=EN.of("mix", "title"))
    assert {"lesson=block", "card=mix"} <= set(back.query_string.split("&"))
    away = visit("steps", text="Short.")
    assert not in_strip(away)


def test_a_card_with_a_real_head_draws_its_very_head(visit: Visit) -> None:
    answered = {"lesson": "ask", "card": "real", "answers": "real=%3F"}
    app = visit("learn", **answered, text="Mine.", layer="1", head="2")
    found = parameters(app)
    real = next(
        picture
        for recipe in lesson("ask").recipes
        if recipe.name == "real"
        for picture in recipe.build(
            CardInputs(recipe.start_values(), 0, course_lessons.capture)
        ).reveal
        if isinstance(picture, RealHead)
    )
    assert (found["layer"], found["head"]) == (str(real.layer), str(real.head))
    header, arrays = sent(app)
    weights = course_lessons.capture(real.model, real.text).all_weights()
    shown = (arrays["weights"].astype(np.float64) / 65535) ** 2
    assert np.abs(shown[real.layer, real.head] - weights[real.layer, real.head]).max() < 1e-3
    assert len(header["tokens"]) == weights.shape[-1]
    app.run()
    assert parameters(app) == found


def test_a_head_that_a_link_brings_is_kept(visit: Visit) -> None:
    first = parameters(visit("learn", lesson="ask", card="real"))
    again = visit("learn", **{**first, "layer": "2", "head": "3"})
    assert (parameters(again)["layer"], parameters(again)["head"]) == ("2", "3")


def test_every_term_of_a_card_has_its_meaning_on_it(visit: Visit) -> None:
    app = visit("learn", lesson="masks", card="added", answers="added=%3F")
    said = [each.value for each in app.markdown]
    entries, names = glossary.entries("en"), glossary.terms_on("masks", "added")
    assert len(names) > 8  # more than stand side by side
    assert [name for name in names if with_formulas(entries[name].meaning) not in said] == []


def test_two_questions_come_back_before_the_next_lesson(visit: Visit) -> None:
    """With new numbers; the one that was answered wrongly first; their answers stand apart."""
    app = visit("learn", lesson="ask", answers="score=1&dictionary=?")
    press_all(app, "learn.all")
    open_lesson(app, "block")
    press_all(app, "learn.ask_two")
    found = parameters(app)
    assert (found["lesson"], found["card"]) == ("ask", "dictionary")
    seed = int(parse(found["values"])["seed"])
    assert parse(found["answers"]) == {"score": "1", "dictionary": "?"}
    press_all(app, "learn.came_back.ask.dictionary")
    assert parameters(app)["card"] == "score"
    seed = int(parse(parameters(app)["values"])["seed"])
    recipe = lesson("ask").recipe("score")
    card = recipe.build(CardInputs(recipe.start_values(), seed, course_lessons.capture))
    app.text_input(key=KEY("learn.score.answer")).set_value(f"{card.question.answer}").run()  # type: ignore[union-attr]
    assert parse(parameters(app)["answers"])["score~"] == f"{card.question.answer:g}"  # type: ignore[union-attr]
    press_all(app, "learn.came_back.ask.score")
    assert parameters(app)["lesson"] == "block" and not app.error
    press_all(app, "learn.all")
    marks = dict(zip(asked("ask"), on_shelf(app)["ask"]["marks"], strict=True))
    assert (marks["score"], marks["dictionary"]) == ("wrong", "shown")
    said = "\n".join(each.value for each in app.markdown)
    assert i18n.text("en", "learn.came_back", right=1, questions=1) in said


def test_a_learner_who_has_answered_little_is_asked_nothing_again(visit: Visit) -> None:
    app = visit("learn", lesson="ask", answers="score=1")
    press_all(app, "learn.all")
    open_lesson(app, "block")
    assert KEY("learn.ask_two") not in [each.key for each in app.button]


@pytest.mark.parametrize("seed", ["0", "-1", "1.5", "99999", "x"])
def test_numbers_of_no_sheet_are_not_shown(visit: Visit, seed: str) -> None:
    app = visit("learn", lesson="block", card="mix", values=f"seed={seed}")
    assert [each.value for each in app.warning] == [adjusted("values")]
    assert "values" not in parameters(app)


def press_all(app: AppTest, name: str) -> None:
    app.button(key=KEY(name)).click().run()
    assert not app.exception


@pytest.mark.parametrize(
    ("card", "layers", "missing"),
    [
        ("live", 2, ["place", "mlp"]),
        ("by_hand", 2, ["place", "norm", "mlp", "logits", "softmax"]),
        ("moment", 4, []),
    ],
)
def test_the_map_of_a_card_is_of_its_model(
    visit: Visit, card: str, layers: int, missing: list[str]
) -> None:
    sent_headers = headers(visit("learn", lesson="birth", card=card))
    (header,) = (header for header in sent_headers if "missing" in header)
    assert (header["layers"], header["missing"]) == (layers, missing)
