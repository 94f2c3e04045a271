"""Worksheets: every lesson in every language, whole and true to the graders."""

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser

import pytest

from attnviz.errors import BadInput
from attnviz.i18n import Language, tag
from attnviz.pictures.board import Board
from attnviz.teach.course import SLUGS, lesson
from attnviz.teach.course.paper import MAX_TOKENS, sheet, weights
from attnviz.teach.course.recipe import CaptureText
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    NumberQuestion,
    RealHead,
)
from attnviz.teach.lessons.cards.grade import grade
from attnviz.teach.lessons.cards.texts import fill, lesson_texts
from attnviz.teach.lessons.cards.versions import shuffled
from attnviz.teach.lessons.paper.markdown import inline
from attnviz.teach.lessons.paper.pictures import is_blank
from attnviz.teach.lessons.paper.worksheet import LAST_SEED
from tests.support import course
from tests.support.cases import mostly_slow
from tests.support.course import captured

SEED = 7
ALONE = {"meta", "br", "path", "rect"}
EMPTY = "<td></td>"
FILLED = re.compile(r"<td[^>]*>[^<]")
TABLE = re.compile(r'<table class="matrix.*?</table>', re.DOTALL)
TAGS = re.compile(r"<[^>]+>")
PROGRAM = re.compile(r"<pre>.*?</pre>", re.DOTALL)  # printed as it is


class Balanced(HTMLParser):
    """Fails where a tag is not closed by its own."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ALONE:
            assert self.open.pop() == tag


def body(page: str) -> str:
    return page.partition("</style>")[2]


@cache
def printed(slug: str, lang: Language, seed: int = SEED) -> str:
    """A worksheet, made once in a session."""
    return sheet(slug, lang, seed, captured)


def built(slug: str, capture: CaptureText) -> list[Card]:
    return [shuffled(card, slug, str(SEED)) for _, card in course.built(slug, SEED)]


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "lang", ["en", *(pytest.param(of, marks=pytest.mark.slow) for of in ("ja", "ko", "zh"))]
)
@pytest.mark.parametrize("slug", SLUGS)
def test_every_lesson_can_be_printed(slug: str, lang: Language, capture_text: CaptureText) -> None:
    page = printed(slug, lang)
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert f'<html lang="{tag(lang)}">' in page
    assert "@page" in page and "break-before: page" in page
    on_screen = page.partition('class="screen"')[2].partition("</section>")[0].count("<li>")
    n_printed = page.count('id="right-')
    assert n_printed + on_screen == len(lesson(slug).recipes) and n_printed >= 3
    assert page.count("<article>") == 2 * n_printed  # each card, and its answer
    assert "columns: 2" in page
    said = TAGS.sub("", PROGRAM.sub("", body(page)))
    assert not re.search(r"\[\[|\]\]|\{\w*\}|\*\*|```|\$", said)
    outside = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?\w+""", page)
    assert "<script" not in page and outside == []


@pytest.mark.parametrize("slug", mostly_slow(SLUGS, ("block", "where", "scale", "heads")))
def test_the_key_is_what_the_graders_take_for_right(slug: str, capture_text: CaptureText) -> None:
    page, texts = printed(slug, "en"), lesson_texts(slug, "en")
    asked = [card for card in built(slug, capture_text) if f'id="right-{card.name}"' in page]
    assert len(asked) == page.count('id="right-') >= 3
    for card in asked:
        found = re.search(rf'id="right-{card.name}">(.*?)</p>', page, flags=re.DOTALL)
        assert found is not None
        said = unescape(TAGS.sub("", found[1]))
        typed = unescape(found[1])
        question = card.question
        if isinstance(question, NumberQuestion):
            assert grade(question, float(said.replace("−", "-"))).right, card.name
        elif isinstance(question, ChoiceQuestion):
            right = fill(texts.of(card.name, f"option.{question.right}"), card.numbers)
            assert typed == inline(right)
        elif isinstance(question, CellQuestion):
            rows = {int(row) for row in re.findall(r"row (?:[^,]*?\()?(\d+)", said)}
            assert rows == {row for row, _ in question.right}, card.name


def test_the_answers_stand_on_the_last_page_only(capture_text: CaptureText) -> None:
    main, _, key = printed("block", "en").partition('<section class="key">')
    # to fill in: one row of the output; Q; scaled and masked scores; weights; the output of W_O;
    # and on later cards the single cells that these cards ask for
    assert main.count(EMPTY) == 2 + 8 + 4 * 16 + 6
    by_card = [article.count(EMPTY) for article in main.split("<article>")[1:]]
    assert by_card == [2, 8, 1, 16, 17, 17, 2, 17, 0, 0, 0]
    assert EMPTY not in key
    asked = []
    for card in built("block", capture_text):
        question = card.question
        if isinstance(question, NumberQuestion) and not float(question.answer).is_integer():
            right = f"{question.answer:.2f}"
            assert right in key and right not in main, card.name
            asked.append(card.name)
    assert asked == ["mix", "scale", "softmax", "output"]


@pytest.mark.parametrize("slug", mostly_slow(SLUGS, ("block", "ask", "masks", "direction")))
def test_a_blank_matrix_is_blank(slug: str, capture_text: CaptureText) -> None:
    main, _, key = printed(slug, "en").partition('<section class="key">')
    blank = [
        panel
        for card in built(slug, capture_text)
        for shown in card.pictures
        if isinstance(shown, Board)
        for panel in shown.panels
        if is_blank(shown, panel)
    ]
    empty = [each for each in TABLE.findall(main) if not FILLED.search(each)]
    assert len(empty) == len(blank)
    for table, panel in zip(empty, blank, strict=True):
        assert table.count(EMPTY) >= panel.values.size, panel.name
        assert "blocked" not in table and "marked" not in table, panel.name


def test_the_mask_that_a_card_asks_for_is_not_printed_on_the_next(
    capture_text: CaptureText,
) -> None:
    page = printed("masks", "en")
    main, _, key = page.partition('<section class="key">')
    asked = main.partition(". Who has nothing left?")[2].partition("<article>")[0]
    assert asked.count(EMPTY) == 25 and "blocked" not in asked
    assert "causal and padding" not in asked.lower()
    solved = key.partition(". Who has nothing left?")[2].partition("<article>")[0]
    assert "may attend" in solved and solved.count(">1</td>") == 6


@pytest.mark.some(1)
@pytest.mark.parametrize("slug", SLUGS)
def test_each_seed_has_numbers_of_its_own(slug: str, capture_text: CaptureText) -> None:
    one, two = (body(printed(slug, "en", seed)) for seed in (SEED, 2))
    if slug == SLUGS[0]:
        assert one == body(sheet(slug, "en", SEED, capture_text))
    cells = [
        re.findall(r"<td[^>]*>([^<]+)</td>|id=\"right[^>]*>([^<]+)", page) for page in (one, two)
    ]
    assert cells[0] != cells[1]


@pytest.mark.parametrize("seed", [-1, LAST_SEED + 1])
def test_a_seed_beyond_the_numbers_of_sheets_is_refused(
    seed: int, capture_text: CaptureText
) -> None:
    with pytest.raises(BadInput, match=str(LAST_SEED)):
        sheet("block", "en", seed, capture_text)


def test_a_lesson_that_is_none_is_refused(capture_text: CaptureText) -> None:
    with pytest.raises(BadInput, match="block"):
        sheet("nonsense", "en", 0, capture_text)


def test_a_head_of_a_short_text_becomes_a_table(capture_text: CaptureText) -> None:
    panel = weights(capture_text, RealHead("minilm", "The cat sat", 5, 11))
    assert panel is not None and panel.rows == panel.columns
    assert panel.rows[1:-1] == ("The", "cat", "sat")
    assert abs(panel.values.sum(axis=1) - 1).max() < 1e-5
    long = RealHead("minilm", "one " * MAX_TOKENS)
    assert weights(capture_text, long) is None
    assert weights(capture_text, RealHead("minilm", "The cat", shown="overview")) is None


def test_sheet_leaves_out_what_paper_cannot_do_and_names_its_address(
    capture_text: CaptureText,
) -> None:
    page = sheet("birth", "en", SEED, capture_text, "http://192.0.2.7:8501", lambda link: "<svg/>")
    main, _, screen = page.partition('<section class="key">')[0].partition('class="screen"')
    live = "http://192.0.2.7:8501/learn?lesson=birth&amp;card=live"
    assert live in screen and live not in main
    n_cards = screen.count("<li>")
    assert n_cards >= 1 and screen.count('class="qr"') == n_cards
    assert main.count('class="qr"') == 1, "the first one opens the lesson"
    assert 'class="qr"' not in printed("birth", "en"), "without a server there is no address"
