"""The card on a stage, prepared once for all pages of a class that read one language.

In: a stage, the code of its class, a language. Out: a `PreparedCard`: the `StagedCard`, its bytes
for the class's socket, and how each seat was judged once the answer is revealed. It reads no
session: the socket prepares a card where no page runs. What gives an answer away is no part of it
before the reveal.
"""

import gzip
import json
import math
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from attnviz.app.page_parts.learn import open_card, pictures
from attnviz.app.page_parts.learn.card_shown import CardShown
from attnviz.app.page_parts.learn.cards import predicts
from attnviz.app.page_parts.learn.open_card import OpenCard
from attnviz.app.page_parts.learn.pointer import Pointing
from attnviz.app.server.class_socket import Prepared, rooms
from attnviz.app.server.shared import shared
from attnviz.i18n import Language, numbers, text
from attnviz.pictures import board as boards
from attnviz.pictures import motion as motions
from attnviz.pictures.board import Board
from attnviz.pictures.class_card import (
    CardBar,
    CardChart,
    CardOption,
    CardPicture,
    CardWord,
    ChartLine,
    Passage,
    StagedCard,
    Takes,
)
from attnviz.pictures.motion import Motion
from attnviz.pictures.shared.canvas import packed, plain
from attnviz.teach.classroom.stage import LEARN, Stage
from attnviz.teach.classroom.tally import answer_bars, label
from attnviz.teach.lessons.cards import glossary, progress
from attnviz.teach.lessons.cards.card import (
    CellQuestion,
    Chart,
    ChoiceQuestion,
    LiveTraining,
    NumberQuestion,
    Picture,
    Program,
    RealHead,
    Slider,
)
from attnviz.teach.lessons.cards.grade import OTHER, Verdict, mistakes
from attnviz.teach.lessons.cards.symbols import with_formulas
from attnviz.teach.lessons.cards.texts import lesson_texts
from attnviz.teach.lessons.cards.versions import before_the_question, in_language
from attnviz.teach.lessons.paper import markdown
from attnviz.teach.lessons.paper.worksheet import exact

MAX_STAGED = 256  # the cards of 50 classes in four languages, with the ones before
MOST_WORDS = 8  # those taught last, which are the least familiar
TAKES: Mapping[type, Takes] = {
    ChoiceQuestion: "choice",
    NumberQuestion: "number",
    CellQuestion: "cell",
}


@dataclass(frozen=True)
class PreparedCard:
    """A card as a class sees it, its bytes, and the label of each seat that answered it."""

    card: StagedCard
    bytes: bytes
    labels: Mapping[str, str]


@shared(most=MAX_STAGED)
def staged(code: str, lang: Language, stage: Stage) -> PreparedCard:
    """The card of this version of a class's stage."""
    card = _card(code, stage, lang)
    labels = rooms().labels(code, stage.name) if stage.revealed else {}
    message = json.dumps(plain(card), ensure_ascii=False, separators=(",", ":")).encode()
    return PreparedCard(card, gzip.compress(message, 6, mtime=0), labels)


def prepare(code: str, lang: Language) -> Prepared | None:
    """The card of a class as its socket sends it; None where the class is on another page."""
    stage = rooms().stage(code)
    if stage.page != LEARN:
        return None
    ready = staged(code, lang, stage)
    return Prepared(ready.bytes, ready.labels, stage.version)


def shown_on(stage: Stage, code: str, lang: Language) -> CardShown:
    """The card of a stage in a language, with its answer once that is revealed."""
    opened = open_card.card_of_stage(stage.lesson, stage.card, stage.settings, code)
    return _shown(opened, stage, lang)


def _shown(opened: OpenCard, stage: Stage, lang: Language) -> CardShown:
    texts = lesson_texts(stage.lesson, lang)
    answers = {opened.name: progress.SHOWN} if stage.revealed else {}
    return CardShown(lang, texts, in_language(opened.card(), texts), answers)


def _card(code: str, stage: Stage, lang: Language) -> StagedCard:
    opened = open_card.card_of_stage(stage.lesson, stage.card, stage.settings, code)
    shown = _shown(opened, stage, lang)
    card, texts = shown.card, shown.texts
    asks, is_told = card.question is not None, stage.revealed and card.question is not None
    drawn = dict(pictures_of(shown))
    made = {name: _picture(shown, stage, picture, name) for name, picture in drawn.items()}
    return StagedCard(
        version=stage.version,
        lesson=stage.lesson,
        card=stage.card,
        lesson_title=markdown.plain(with_formulas(texts.title)),
        where=text(
            lang, "learn.where", number=stage.number + 1, cards=stage.count or len(opened.names)
        ),
        title=markdown.spans(shown.say("title")),
        text=_passages(shown, "text"),
        question=_passages(shown, "question") if asks else (),
        takes=TAKES[type(card.question)] if asks else "",
        options=tuple(_options(shown, stage)),
        settings=tuple(_settings(shown, opened)),
        pictures=tuple(picture for picture in made.values() if picture is not None),
        words=tuple(_words(shown, stage)),
        begun=stage.begun,
        revealed=is_told,
        right=_right(shown) if is_told else "",
        reveal=_passages(shown, "reveal") if is_told else (),
        takeaway=() if shown.is_open else _passages(shown, "takeaway"),
        feedback=_feedback(shown) if is_told else {},
        bars=tuple(_bars(shown, stage, code)) if is_told and stage.shown else (),
        answered=rooms().tally(code, stage.name).answered if is_told else 0,
        vote=stage.vote,
        needs_page=None in made.values() or stage.asked is not None or bool(stage.activity),
    )


def pictures_of(shown: CardShown) -> Iterator[tuple[str, Picture]]:
    """The pictures that a card shows now, by the names of their places.

    Where only a page draws those of the answer, its situation stays: the wall has it alone.
    """
    card = shown.card
    before, later = (
        before_the_question(card) if shown.is_open else (),
        (*card.pictures, *card.reveal),
    )
    if not before and later and all(map(_is_by_page, later)):
        before = tuple(picture for picture in card.situation if not _is_by_page(picture))
    for number, picture in enumerate(before):
        yield f"before.{number}", picture
    for number, picture in enumerate(card.pictures):
        yield f"{number}", picture
    for number, picture in enumerate(() if shown.is_open else card.reveal):
        yield f"reveal.{number}", picture


def _is_by_page(picture: Picture) -> bool:
    return isinstance(picture, RealHead | LiveTraining)


def _picture(shown: CardShown, stage: Stage, picture: Picture, name: str) -> CardPicture | None:
    """A picture that the canvas draws; None for one that only a page draws."""
    if isinstance(picture, Board):
        target = Pointing.read(stage.card, stage.selection)
        pointed = target.at if target.picture == f"learn.{stage.card}.{name}" else None
        view = pictures.board_view(shown, picture, pointed=pointed, roomy=True)
        return CardPicture("board", _base64(packed(boards.CANVAS, view, shown.lang)))
    if isinstance(picture, Motion):
        film = pictures.motion_view(shown, picture)
        return CardPicture("motion", _base64(packed(motions.CANVAS, film, shown.lang)))
    if isinstance(picture, Chart):
        return CardPicture("chart", chart=_chart(shown, picture))
    return CardPicture("program", picture.source) if isinstance(picture, Program) else None


def _chart(shown: CardShown, chart: Chart) -> CardChart:
    say = partial(shown.say, markup=False)
    lines = tuple(
        ChartLine(
            say(f"series.{line.name}"),
            tuple(map(float, line.x)),
            tuple(float(y) if math.isfinite(y) else None for y in line.y),
        )
        for line in chart.series
    )
    x, y = say(f"axis.{chart.x}"), say(f"axis.{chart.y}")
    return CardChart(lines, x, y, chart.log_x, chart.bars, chart.marked_x)


def _options(shown: CardShown, stage: Stage) -> Iterator[CardOption]:
    question = shown.card.question
    if not isinstance(question, ChoiceQuestion):
        return
    for name in question.options:
        picture = question.pictures.get(name)
        drawn = None if picture is None else _picture(shown, stage, picture, f"option.{name}")
        yield CardOption(name, markdown.spans(shown.say(f"option.{name}")), drawn)


def _settings(shown: CardShown, opened: OpenCard) -> Iterator[str]:
    """The controls as the presenter has set them; those of an experiment after its prediction."""
    if predicts(shown.card) and shown.is_open:
        return
    for control in opened.recipe.controls:
        value, key = opened.values[control.name], f"control.{control.name}"
        said = numbers.number(shown.lang, value, "g") if isinstance(control, Slider) else str(value)
        if shown.texts.has(shown.card.name, f"{key}.{value}"):
            said = shown.texts.of(shown.card.name, f"{key}.{value}")
        yield f"{shown.texts.of(shown.card.name, key)}: {said}"


def _words(shown: CardShown, stage: Stage) -> Iterator[CardWord]:
    entries = glossary.entries(shown.lang)
    for name in glossary.terms_on(*stage.name, not shown.is_open)[-MOST_WORDS:]:
        entry = entries[name]
        meaning = markdown.passages(with_formulas(entry.meaning))
        yield CardWord(markdown.plain(with_formulas(entry.term)), meaning)


def _right(shown: CardShown) -> str:
    """The name of the right option, the right number in words, "" for cells, which are framed."""
    question = shown.card.question
    if isinstance(question, ChoiceQuestion):
        return question.right
    if isinstance(question, NumberQuestion):
        return exact(question.answer, question.tolerance, shown.lang)
    return ""


def _feedback(shown: CardShown) -> dict[str, tuple[Passage, ...]]:
    """The sentence for each mistake, under the label of its verdict."""
    assert shown.card.question is not None
    names = (*mistakes(shown.card.question), OTHER)
    return {
        label(Verdict(False, name)): _passages(shown, f"feedback.{name}")
        for name in names
        if shown.texts.has(shown.card.name, f"feedback.{name}")
    }


def _bars(shown: CardShown, stage: Stage, code: str) -> Iterator[CardBar]:
    counts = rooms().tally(code, stage.name)
    for bar in answer_bars(shown.card, shown.texts, shown.lang, counts):
        yield CardBar(bar.label, bar.words, bar.count, bar.first, bar.right)


def _passages(shown: CardShown, key: str) -> tuple[Passage, ...]:
    return markdown.passages(shown.say(key))


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")
