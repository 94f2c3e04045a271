"""Worksheets and handouts: the cards of a lesson built from a seed, as HTML for paper.

In: a lesson's name, a language, a seed, and a function that captures a model. Out: HTML. Seed 0 has
the numbers of the screen, which course texts print; any other seed has other numbers.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

import numpy as np

from attnviz.errors import BadInput
from attnviz.i18n import Language
from attnviz.pictures.board import Panel
from attnviz.teach.course import lesson
from attnviz.teach.course.recipe import CaptureText, CardInputs, Recipe
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.card import RealHead
from attnviz.teach.lessons.cards.texts import LessonTexts, lesson_texts
from attnviz.teach.lessons.cards.versions import in_language, shuffled
from attnviz.teach.lessons.paper.record import TaughtLesson, handout_html
from attnviz.teach.lessons.paper.worksheet import LAST_SEED, PrintedCard, Worksheet, worksheet_html

MAX_TOKENS = 14  # more columns than this do not fit on paper


def sheet(
    slug: str,
    lang: Language,
    seed: int,
    capture: CaptureText,
    server: str = "",
    qr: Callable[[str], str] | None = None,
) -> str:
    """The worksheet of a lesson as HTML; `server` is the address of the app, drawn by `qr`."""
    if not 0 <= seed <= LAST_SEED:
        raise BadInput(
            f"there is no worksheet {seed}; take a number from 0 to {LAST_SEED}",
            code="bad_seed",
            asked=seed,
            last=LAST_SEED,
        )
    recipes, texts = lesson(slug).recipes, lesson_texts(slug, lang)
    cards = [_printed(slug, recipe, seed, capture, texts) for recipe in recipes]
    real = partial(weights, capture)
    return worksheet_html(Worksheet(slug, lang, seed, cards, real, server, qr))


def handout(cards: Sequence[tuple[str, str]], lang: Language, capture: CaptureText) -> str:
    """The handout of these cards, lesson by lesson, as HTML: sentences to keep and terms."""
    taught = []
    for slug, group in groupby(cards, key=lambda path: path[0]):
        texts, recipes = lesson_texts(slug, lang), lesson(slug)
        built = [_printed(slug, recipes.recipe(card), 0, capture, texts).card for _, card in group]
        taught.append(TaughtLesson(texts, built))
    used = {term for slug, card in cards for term in glossary.terms_on(slug, card)}
    own = {slug for slug, _ in cards}
    terms = [
        entry
        for name, entry in glossary.entries(lang).items()
        if name in used and entry.card[0] in own
    ]
    return handout_html(lang, taught, terms)


def _printed(
    slug: str, recipe: Recipe, seed: int, capture: CaptureText, texts: LessonTexts
) -> PrintedCard:
    values = recipe.start_values()
    card = shuffled(recipe.build(CardInputs(values, seed, capture)), slug, str(seed))
    controls = [(control, values[control.name]) for control in recipe.controls]
    return PrintedCard(in_language(card, texts), controls)


def weights(capture: CaptureText, real: RealHead) -> Panel | None:
    """The weights of a head on one short text; None if they are no single matrix that fits."""
    if real.shown != "head" or not real.text or real.view:
        return None
    captured = capture(real.model, real.text)
    values = captured.weights(real.layer, real.head).astype(np.float64)
    if max(values.shape) > MAX_TOKENS:
        return None
    labels = captured.tokens.labels
    return Panel("weights", values, rows=labels, columns=labels, signed=False)
