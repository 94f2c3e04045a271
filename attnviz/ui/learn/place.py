"""Where a learner is: the lesson, its card, what is set on it, and the answers so far.

In: the view, checked against the lesson. Out: a frozen `Place`, and the changes a page can make.
The address holds the current lesson; answers of others stay in the session until they are opened
again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.lessons.cards import progress
from attnviz.lessons.cards.card import Card, Value
from attnviz.ui.server import cache
from attnviz.ui.session import state

if TYPE_CHECKING:
    from attnviz.course.recipe import Lesson, Recipe

KEPT = "learn.answers"
LEFT = "learn.left"
HERE = "learn.here"
NOWHERE = {"lesson": "", "card": "", "values": "", "answers": ""}


@dataclass(frozen=True)
class Place:
    """A card of a lesson as one learner sees it; `answers` maps cards to answers as text.

    Where `led`, a presenter sets what can be set.
    """

    lesson: "Lesson"
    recipe: "Recipe"
    values: Mapping[str, Value]
    answers: Mapping[str, str]
    led: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The cards of the lesson."""
        return tuple(recipe.name for recipe in self.lesson.recipes)

    @property
    def number(self) -> int:
        """Which card this is, from 0."""
        return self.names.index(self.recipe.name)

    def card(self) -> Card:
        """The card with its numbers."""
        return _built(self.lesson.slug, self.recipe, self.values)

    def built(self, name: str) -> Card:
        """Any card of the lesson: this one as it is set, another one as it opens."""
        if name == self.recipe.name:
            return self.card()
        recipe = self.lesson.recipe(name)
        return _built(self.lesson.slug, recipe, recipe.start_values())


def _built(slug: str, recipe: "Recipe", values: Mapping[str, Value]) -> Card:
    """A card with the numbers of seed 0."""

    def build() -> Card:
        from attnviz.course.recipe import CardInputs

        return recipe.build(CardInputs(values, 0, cache.lesson_capture))

    return cache.lesson_card(f"{slug} {recipe.name} {sorted(values.items())}", build)


def of(lesson: "Lesson") -> Place:
    """Where the view says the learner is; the first card where it names none of the lesson's."""
    view = state.current()
    known = {recipe.name: recipe for recipe in lesson.recipes}
    recipe = known.get(view.card, lesson.recipes[0])
    asked = progress.parse(view.values) if recipe.name == view.card else {}
    given = {name: of for name, of in progress.parse(view.answers).items() if name in known}
    return Place(lesson, recipe, recipe.checked(_typed(recipe, asked)), given)


def adjust(lesson: "Lesson") -> bool:
    """Take out of the view what the lesson does not know, as of an address; whether there was any.

    A card that is none goes with what was set on it, and so do answers to cards that are none.
    """
    view, known = state.current(), {recipe.name: recipe for recipe in lesson.recipes}
    changes: dict[str, str] = {}
    recipe = known.get(view.card)
    if view.card and recipe is None:
        changes |= {"card": "", **({"values": ""} if view.values else {})}
    elif recipe is not None and not _fits(recipe, progress.parse(view.values)):
        changes["values"] = ""
    answers = progress.parse(view.answers)
    if not answers.keys() <= known.keys():
        kept = {name: of for name, of in answers.items() if name in known}
        changes["answers"] = progress.write(kept)
    state.update(**changes)
    state.reject(*changes)
    return bool(changes)


def _fits(recipe: "Recipe", asked: Mapping[str, str]) -> bool:
    checked = recipe.checked(_typed(recipe, asked))
    return all(
        name in checked and value == checked[name] for name, value in _typed(recipe, asked).items()
    )


def arrivals(at: Place) -> int:
    """How many cards this session opened before this one; the one it began with does not count."""
    return arrive(f"{at.lesson.slug}/{at.recipe.name}")


def arrive(here: str) -> int:
    """Note where the session is; how often it has moved so far."""
    before, moves = state.kept(HERE) or (here, 0)
    moves += before != here
    state.keep(HERE, (here, moves))
    return int(moves)


def on(slug: str, card: str, values: str) -> Place:
    """A card of a lesson as it is set, without answers."""
    lesson = cache.lesson(slug)
    recipe = lesson.recipe(card)
    return Place(lesson, recipe, recipe.checked(_typed(recipe, progress.parse(values))), {})


def _typed(recipe: "Recipe", asked: Mapping[str, str]) -> dict[str, object]:
    """Values as their controls have them: a slider's as a number."""
    numbers = {control.name for control in recipe.controls if isinstance(control.start, float)}
    return {
        name: progress.number(value) if name in numbers else value for name, value in asked.items()
    }


def answers_of(slug: str) -> dict[str, str]:
    """The answers that this session gave in a lesson."""
    view = state.current()
    if view.lesson == slug:
        return progress.parse(view.answers)
    kept: Mapping[str, str] = state.kept(KEPT) or {}
    return progress.parse(kept.get(slug, ""))


def left_at(slug: str) -> str:
    """The card at which this session left a lesson; "" for one to begin with its first card."""
    kept: Mapping[str, str] = state.kept(LEFT) or {}
    return kept.get(slug, "")


def open_lesson(slug: str, anew: bool = False) -> None:
    """Go to a lesson where it was left, or to its first card, with the answers given before."""
    leave()
    kept: Mapping[str, str] = state.kept(KEPT) or {}
    card = "" if anew else left_at(slug)
    state.update(lesson=slug, card=card, answers=kept.get(slug, ""))


def leave(done: bool = False) -> None:
    """Go to the list of lessons; answers and the card stay in this session, unless it is done."""
    view = state.current()
    if view.lesson:
        card = "" if done else view.card
        state.keep(KEPT, {**(state.kept(KEPT) or {}), view.lesson: view.answers})
        state.keep(LEFT, {**(state.kept(LEFT) or {}), view.lesson: card})
    state.update(**NOWHERE)


def go(card: str) -> None:
    """Go to a card of the lesson."""
    state.update(card=card, values="")


def answer(card: str, given: str) -> None:
    """Take an answer, "" to try again."""
    answers = {**progress.parse(state.current().answers), card: given}
    kept = {name: of for name, of in answers.items() if of}
    state.update(card=card, answers=progress.write(kept))


def set_value(card: str, name: str, value: Value) -> None:
    """Set one of a card's controls."""
    values = {**progress.parse(state.current().values), name: str(value)}
    state.update(card=card, values=progress.write(values))
