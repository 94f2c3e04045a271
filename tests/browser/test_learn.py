"""Lessons as a learner walks them: every question answered correctly, by mouse and by keyboard."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from attnviz.app.page_parts.learn.open_card import SEED
from attnviz.capture.run import capture
from attnviz.i18n import text
from attnviz.models.loader import load
from attnviz.teach.course import SLUGS, lesson
from attnviz.teach.course.recipe import CaptureText
from attnviz.teach.lessons.cards.card import Card, CellQuestion, ChoiceQuestion
from attnviz.teach.lessons.cards.glossary import entries, terms_on
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.teach.lessons.cards.versions import shuffled
from tests.browser.conftest import OpenVisit
from tests.support.browser import accessibility_problems, settle
from tests.support.cases import mostly_slow
from tests.support.lessons import cards, panels, right_answers
from tests.support.visit import ANYTHING, Visit, expect_data
from tests.support.waiting import expect_true

FIRST = SLUGS[0]
PHONE: ViewportSize = {"width": 390, "height": 844}
CELL = '[data-panel="{panel}"] td[data-row="{row}"][data-column="{column}"]'


@pytest.fixture(scope="module")
def capture_text() -> Iterator[CaptureText]:
    """Captures of registry models; each model is loaded once."""
    loaded: dict[str, object] = {}

    def run(model: str, text: str | None = None, **options: object) -> object:
        if model not in loaded:
            loaded[model] = load(model)
        return capture(loaded[model], text, **options)  # type: ignore[arg-type]

    yield run  # type: ignore[misc]


@pytest.mark.parametrize("slug", mostly_slow(SLUGS, ("masks",)))
def test_a_lesson_can_be_walked_to_its_end(
    visit: OpenVisit, slug: str, capture_text: CaptureText
) -> None:
    opened = visit("learn", canvases=False, lesson=slug)
    page, texts = opened.page, lesson_texts(slug, "en")
    built = [shuffled(card, slug, str(SEED)) for _, card in cards(lesson(slug), capture_text)]
    for place, card in enumerate(built):
        title = with_formulas(texts.of(card.name, "title").partition("[[")[0]).partition("$")[0]
        heading = page.get_by_role("heading", level=2).first
        expect(heading).to_contain_text(title)
        settle(page, canvases=False)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        if card.question is not None:
            answer_right(page, card)
            expect(verdict(page, "✓ Right.")).to_be_visible()
            expect(page.get_by_role("button", name="Show the answer")).to_have_count(0)
        if place + 1 < len(built):
            page.get_by_role("button", name="Next →").click()
    page.get_by_role("button", name="Finish").click()
    asked = sum(card.question is not None for card in built)
    expect(page.get_by_role("img", name=f"{asked} of {asked} questions answered")).to_be_visible()


def verdict(page: Page, words: str) -> Locator:
    return page.get_by_test_id("stAlert").filter(has_text=words)


def answer_right(page: Page, card: Card) -> None:
    question = card.question
    assert question is not None
    answer = right_answers(question)[0]
    if isinstance(question, ChoiceQuestion):
        place = question.options.index(question.right)
        if question.pictures:
            columns = page.get_by_test_id("stColumn").filter(has=page.get_by_role("button"))
            columns.nth(place).get_by_role("button").click()
        else:
            page.get_by_test_id("stMain").get_by_role("radiogroup").last.locator("label").nth(
                place
            ).click()
    elif isinstance(question, CellQuestion):
        assert isinstance(answer, tuple)
        asked = next(panel for panel in panels(card) if panel.name == question.panel)
        click_cell(page, asked.name, asked.values.shape, *min(question.right))
    else:
        box = page.get_by_role("textbox", name="Your number")
        box.fill(f"{float(answer)!r}")  # type: ignore[arg-type]
        box.press("Enter")


def click_cell(page: Page, panel: str, shape: tuple[int, int], row: int, column: int) -> None:
    """A cell of a table, or of the heatmap that a large panel is."""
    figure = page.locator(f'[data-panel="{panel}"]')
    expect(figure).to_be_visible()
    if figure.locator("table").count():
        figure.locator(f'td[data-row="{row}"][data-column="{column}"]').click()
        return
    canvas = figure.locator("canvas")
    expect(canvas).to_have_attribute("data-plot", ANYTHING)
    x, y, wide, high = map(float, str(canvas.get_attribute("data-plot")).split(","))
    n_rows, n_columns = shape
    at = {"x": x + (column + 0.5) * wide / n_columns, "y": y + (row + 0.5) * high / n_rows}
    canvas.click(position=at)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    "lang", ["ja", *(pytest.param(of, marks=pytest.mark.slow) for of in ("ko", "zh"))]
)
def test_the_first_card_speaks_the_language(visit: OpenVisit, lang: str) -> None:
    opened = visit("learn", canvases=False, lesson="block", lang=lang)
    texts = lesson_texts("block", lang)  # type: ignore[arg-type]
    expect(opened.page.get_by_role("heading", level=2)).to_have_text(texts.of("mix", "title"))
    expect(opened.page.locator(".av-board figcaption").first).to_have_text(
        texts.of("mix", "panel.weights")
    )
    assert accessibility_problems(opened.page) == []


@pytest.mark.slow
def test_a_cell_is_answered_by_keyboard_and_a_link_restores_it(visit: OpenVisit) -> None:
    opened = visit("learn", canvases=False, lesson="block", card="products", scheme="dark")
    page = opened.page
    page.locator(CELL.format(panel="scores", row=0, column=0)).focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(verdict(page, "That is the query “cat” with the key “tired”.")).to_be_visible()
    settle(page, canvases=False)
    page.locator(CELL.format(panel="scores", row=0, column=0)).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(verdict(page, "✓ Right.")).to_be_visible()
    opened.wait_for_parameters(answers="products=3.1%21")  # not the first try
    assert accessibility_problems(page) == []
    found = parse_qs(urlsplit(page.url).query)
    again = visit("learn", canvases=False, **{name: of[0] for name, of in found.items()})
    expect(verdict(again.page, "✓ Right.")).to_be_visible()


@pytest.mark.slow
def test_a_click_beside_the_asking_panel_counts_or_says_where_to_answer(visit: OpenVisit) -> None:
    page = visit("learn", canvases=False, lesson="claims", card="effect").page
    texts = lesson_texts("claims", "en")
    page.locator(CELL.format(panel="weights", row=0, column=0)).click()
    heaviest = texts.of("effect", "feedback.heaviest").partition("[[")[0]
    expect(verdict(page, heaviest)).to_be_visible()
    page.locator(CELL.format(panel="reach", row=0, column=3)).click()
    expect(verdict(page, "✓ Right.")).to_be_visible()
    other = visit("learn", canvases=False, lesson="block", card="products").page
    other.locator(CELL.format(panel="q", row=2, column=0)).click()
    scores = lesson_texts("block", "en").of("products", "panel.scores")
    expect(other.locator(".av-board .av-status")).to_have_text(f"Answer in “{scores}”.")
    expect(other.get_by_test_id("stAlert")).to_have_count(0)


@pytest.mark.slow
def test_the_right_option_is_marked_after_a_wrong_one(visit: OpenVisit) -> None:
    page = visit("learn", canvases=False, lesson="block", card="order").page
    page.get_by_text("Nothing", exact=True).click()
    expect(verdict(page, "✗ Not right.")).to_be_visible()
    settle(page, canvases=False)
    page.get_by_text("The rows no longer add up to 1").click()
    expect(verdict(page, "✓ Right.")).to_be_visible()
    right = page.get_by_role("radio", name="✓ The rows no longer add up to 1")
    expect(right).to_be_disabled()
    expect(right).to_be_checked()


@pytest.mark.slow
def test_a_choice_stays_when_the_language_changes(visit: OpenVisit) -> None:
    opened = visit("learn", canvases=False, lesson=FIRST, answers="next=word")
    page, texts = opened.page, lesson_texts(FIRST, "ja")
    said = lesson_texts(FIRST, "en").of("next", "option.word")
    expect(page.get_by_role("radio", name=said, exact=True)).to_be_checked()
    opened.choose("Language", "日本語", menu="menu.more")
    expect(page.get_by_role("radio", name=texts.of("next", "option.word"))).to_be_checked()
    expect(page.get_by_role("radio", name="Card 1")).to_have_count(0)


@pytest.mark.slow
def test_the_next_card_is_read_from_its_top(visit: OpenVisit) -> None:
    opened = visit("learn", canvases=False, lesson="positions", answers="shuffle=move")
    page = opened.page
    heading = page.get_by_role("heading", level=2)
    expect(heading).not_to_be_focused()  # a page that opens takes no focus
    expect(page.get_by_role("radio", name="Card 1 of 9 · right")).to_be_visible()
    page.get_by_role("button", name="Next →").focus()  # below what the window shows
    scrolled = "() => document.querySelector('[data-testid=stMain]').scrollTop"
    expect_true(lambda: page.evaluate(scrolled) > 0)
    page.keyboard.press("Enter")
    texts = lesson_texts("positions", "en")
    expect(heading.filter(has_text=texts.of("broken", "title"))).to_be_focused()
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop < 1")
    page.keyboard.press("Tab")
    first, *_ = terms_on("positions", "broken", answered=False)  # the card's terms come first
    word = page.get_by_role("button", name=entries("en")[first].term, exact=True)
    expect(word).to_be_focused()


@pytest.mark.slow
def test_a_number_gets_its_mistake_then_a_real_head_leads_back(
    visit: OpenVisit, capture_text: CaptureText
) -> None:
    opened = visit("learn", canvases=False, lesson="block", card="mix")
    page = opened.page
    hidden = page.locator(CELL.format(panel="mixed", row=0, column=1))
    expect(hidden).to_have_text("?")
    enter(opened, "3")
    expect(verdict(page, "That is the value of “cat” alone.")).to_be_visible()
    (right,) = (card for _, card in cards(lesson("block"), capture_text) if card.name == "mix")
    enter(opened, f"{right.question.answer:.3f}".replace(".", ","))  # type: ignore[union-attr]
    expect(verdict(page, "✓ Right.")).to_be_visible()
    shown = page.get_by_role("textbox", name="Your number")
    expect(shown).to_be_disabled()
    expect(shown).to_have_value(f"{right.question.answer:.3f}")  # type: ignore[union-attr]
    expect(hidden).not_to_have_text("?")
    page.get_by_role(
        "button", name=text("en", "learn.try", page=text("en", "page.steps.title"))
    ).click()
    weights = page.locator(".panel[data-stage=weights] canvas[role=img]")
    expect_data(weights, layer=3, head=1)
    page.get_by_role("link", name="← Card").click()
    expect(verdict(page, "✓ Right.")).to_be_visible()
    opened.wait_for_parameters(lesson="block", card="mix", layer=3, head=1)


def enter(opened: Visit, typed: str) -> None:
    box = opened.page.get_by_role("textbox", name="Your number")
    box.fill(typed)
    box.press("Enter")


@pytest.mark.slow
def test_an_equation_stays_whole_on_a_phone(visit: OpenVisit) -> None:
    """On one line where it can be read, else in a column; never a line and a half."""
    line = visit("learn", canvases=False, lesson="block", card="products").page
    line.set_viewport_size(PHONE)
    expect_true(lambda: stands(line) == "line")
    column = visit("learn", canvases=False, lesson="errata", card="digits")
    column.page.set_viewport_size(PHONE)
    expect_true(lambda: stands(column.page) == "column")


def stands(page: Page) -> str:
    """The shape in which the three matrices of a board lie within a phone's page, "" for none."""
    boxes = [part.bounding_box() for part in page.locator(".av-board-part").all()]
    placed = [box for box in boxes if box is not None]
    if len(placed) != 3 or max(box["x"] + box["width"] for box in placed) > PHONE["width"]:
        return ""
    if max(box["y"] for box in placed) < min(box["y"] + box["height"] for box in placed):
        return "line"
    one_below_another = all(
        upper["y"] + upper["height"] <= lower["y"] + 1
        for upper, lower in zip(placed, placed[1:], strict=False)
    )
    return "column" if one_below_another else ""
