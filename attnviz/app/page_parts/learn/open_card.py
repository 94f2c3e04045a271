"""The open card of a lesson: the values set on it, and the answers so far.

In: the view, checked against the lesson. Out: a frozen `OpenCard`, and the changes that a page can
make. The address holds the open lesson; answers to others stay in the session until they are opened
again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attnviz.app.server import course_lessons
from attnviz.app.server.shared import shared
from attnviz.app.session import address_bar, current, store
from attnviz.app.session.view import LessonPlace
from attnviz.teach.classroom.rooms import normal
from attnviz.teach.lessons.cards import progress
from attnviz.teach.lessons.cards.card import Card, Slider, Value
from attnviz.teach.lessons.cards.versions import shuffled
from attnviz.teach.lessons.paper.worksheet import LAST_SEED

if TYPE_CHECKING:
    from attnviz.teach.course.recipe import Lesson, Recipe

MAX_CARDS = 128
SEED = 0  # of the numbers on screen, which course texts print
ANSWERS = "learn.answers"
LAST_CARD = "learn.left"
KNOWN = "learn.known"
HERE = "learn.here"
FINISHED = "learn.finished"
DRAWN = "learn.drawn"


@dataclass(frozen=True)
class OpenCard:
    """A card of a lesson as one learner sees it; `answers` maps cards to answers as text.

    `way` has the cards that a presenter shows, of this lesson in another order, or of several;
    `room` is the code of the class that this page leads, all of whose pages have one order of
    options. `seed` gives the numbers: another one than the lesson's where a question comes back.
    """

    lesson: "Lesson"
    recipe: "Recipe"
    values: Mapping[str, Value]
    answers: Mapping[str, str]
    way: tuple[tuple[str, str], ...] = ()
    room: str = ""
    seed: int = SEED

    @property
    def name(self) -> str:
        """The card's name."""
        return self.recipe.name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the lesson's cards, as they are shown one after the other."""
        slug = self.lesson.slug
        return tuple(card for lesson, card in self.whole_way if lesson == slug)

    @property
    def whole_way(self) -> tuple[tuple[str, str], ...]:
        """The cards that are shown one after the other, with their lessons."""
        slug = self.lesson.slug
        return self.way or tuple((slug, recipe.name) for recipe in self.lesson.recipes)

    @property
    def number(self) -> int:
        """The card's place among those that are shown, from 0; a hidden one counts as the first."""
        here, way = (self.lesson.slug, self.name), self.whole_way
        return way.index(here) if here in way else 0

    def card(self) -> Card:
        """The card with its numbers."""
        return self._shuffled(self.name, self.values)

    def card_named(self, name: str) -> Card:
        """Any card of the lesson: this one with its values, another one as it opens."""
        if name == self.name:
            return self.card()
        return self._shuffled(name, self.lesson.recipe(name).start_values())

    def _shuffled(self, name: str, values: Mapping[str, Value]) -> Card:
        slug, seed = self.lesson.slug, self.seed if name == self.name else SEED
        built = _built(slug, name, values, seed)
        return shuffled(built, slug, normal(self.room) or str(seed))


@shared(most=MAX_CARDS)
def _built(slug: str, name: str, values: Mapping[str, Value], seed: int) -> Card:
    """A card with the numbers of a seed, for all visitors."""
    from attnviz.teach.course.recipe import CardInputs

    recipe = course_lessons.lesson(slug).recipe(name)
    return recipe.build(CardInputs(values, seed, course_lessons.capture))


def open_card(lesson: "Lesson") -> OpenCard:
    """The learner's card from the address; the first card if the address names none."""
    learn = current.view().learn
    recipes = {recipe.name: recipe for recipe in lesson.recipes}
    recipe = recipes.get(learn.card, lesson.recipes[0])
    texts = progress.parse(learn.values) if recipe.name == learn.card else {}
    answers = progress.parse(learn.answers)
    values, room = recipe.checked(_typed(recipe, texts)), current.view().classroom.room
    seed = progress.seed_of(texts, LAST_SEED)
    if seed:  # its own answer, beside the one to the lesson's numbers
        answers[recipe.name] = answers.get(recipe.name + progress.CAME_BACK, "")
    answers = {name: answer for name, answer in answers.items() if name in recipes and answer}
    return OpenCard(lesson, recipe, values, answers, room=room, seed=seed)


def card_of_stage(slug: str, card: str, settings: str, room: str) -> OpenCard:
    """The card of a class's stage, with its settings and without answers."""
    lesson = course_lessons.lesson(slug)
    recipe = lesson.recipe(card)
    texts = progress.parse(settings)
    values, seed = recipe.checked(_typed(recipe, texts)), progress.seed_of(texts, LAST_SEED)
    return OpenCard(lesson, recipe, values, {}, room=room, seed=seed)


def follow_moved() -> bool:
    """Go on to the card that an old address leads to now; True if it has moved.

    Answers that the address holds for that lesson stay, and the values of a card of that name.
    """
    learn = current.view().learn
    slug, card = course_lessons.of_moved_card(learn.lesson, learn.card)
    if (slug, card) == (learn.lesson, learn.card):
        return False
    names = {recipe.name for recipe in course_lessons.lesson(slug).recipes}
    answers = progress.parse(learn.answers)
    fitting = {name: answer for name, answer in answers.items() if name in names}
    values = learn.values if card == learn.card else ""
    put(LessonPlace(slug, card, values, progress.write(fitting)))
    return True


def remove_unknown(lesson: "Lesson") -> bool:
    """Take out of the view what the lesson does not have; True if there was any.

    An unknown card goes with its values, and so do answers to unknown cards.
    """
    learn, recipes = current.view().learn, {recipe.name: recipe for recipe in lesson.recipes}
    changes: dict[str, str] = {}
    recipe = recipes.get(learn.card)
    if learn.card and recipe is None:
        changes |= {"card": "", **({"values": ""} if learn.values else {})}
    elif recipe is not None and not _are_known(recipe, progress.parse(learn.values)):
        changes["values"] = ""
    answers = progress.parse(learn.answers)
    known = {*recipes, *(name + progress.CAME_BACK for name in recipes)}
    if not answers.keys() <= known:
        fitting = {name: answer for name, answer in answers.items() if name in known}
        changes["answers"] = progress.write(fitting)
    current.take(changes)
    address_bar.reject(*changes)
    return bool(changes)


def _are_known(recipe: "Recipe", texts: Mapping[str, str]) -> bool:
    typed, checked = _typed(recipe, texts), recipe.checked(_typed(recipe, texts))
    seed = typed.pop(progress.SEED, "")
    if seed and not progress.seed_of(texts, LAST_SEED):
        return False
    return all(name in checked and value == checked[name] for name, value in typed.items())


def _typed(recipe: "Recipe", texts: Mapping[str, str]) -> dict[str, object]:
    """Values as their controls have them: a slider's as a number."""
    numbers = {control.name for control in recipe.controls if isinstance(control.start, float)}
    return {
        name: progress.number(value) if name in numbers else value for name, value in texts.items()
    }


def n_moves(here: str) -> int:
    """The number of moves among cards in this session; the first card does not count.

    `here` is where it is now: a lesson and a card, or "" for the list of lessons.
    """
    before, moves = store.get(HERE) or (here, 0)
    moves += before != here
    store.put(HERE, (here, moves))
    return int(moves)


def note_came_back(slug: str, card: str, standing: progress.Standing) -> None:
    """Note how a question stands that came back with other numbers."""
    after = {**known(slug), card + progress.CAME_BACK: standing}
    store.put(KNOWN, {**(store.get(KNOWN) or {}), slug: after})


def ask_again(slug: str, card: str, seed: int) -> None:
    """Go to a card with the numbers of another seed, as if it had not come back before."""
    open_lesson(slug)
    answers = progress.parse(current.view().learn.answers)
    answers.pop(card + progress.CAME_BACK, None)
    values = progress.write({progress.SEED: seed})
    put(LessonPlace(slug, card, values, progress.write(answers)))


def answers_of(slug: str) -> dict[str, str]:
    """The answers that this session gave in a lesson."""
    learn = current.view().learn
    if learn.lesson == slug:
        return progress.parse(learn.answers)
    kept: Mapping[str, str] = store.get(ANSWERS) or {}
    return progress.parse(kept.get(slug, ""))


def known(slug: str) -> dict[str, progress.Standing]:
    """The standings of a lesson's answered cards when it was last drawn."""
    kept: Mapping[str, Mapping[str, progress.Standing]] = store.get(KNOWN) or {}
    return dict(kept.get(slug, {}))


def note_known(slug: str, standings: Mapping[str, progress.Standing]) -> None:
    """Note how the cards of a lesson stand: judging them takes their numbers, or a model."""
    came_back = {
        name: standing
        for name, standing in known(slug).items()
        if name.endswith(progress.CAME_BACK)
    }
    store.put(KNOWN, {**(store.get(KNOWN) or {}), slug: {**came_back, **standings}})


def last_card(slug: str) -> str:
    """The card at which this session left a lesson; "" if it starts with the first card."""
    kept: Mapping[str, str] = store.get(LAST_CARD) or {}
    return kept.get(slug, "")


def open_lesson(slug: str, from_start: bool = False) -> None:
    """Go to a lesson where it was left, or to its first card, with the answers given before."""
    leave()
    kept: Mapping[str, str] = store.get(ANSWERS) or {}
    card = "" if from_start else last_card(slug)
    put(LessonPlace(slug, card, answers=kept.get(slug, "")))


def put(learn: LessonPlace) -> None:
    """Show this card, with these values and answers."""
    current.update(replace(current.view(), learn=learn))


def open_at(slug: str, card: str) -> None:
    """Go to a card of any lesson, with the answers given before."""
    open_lesson(slug)
    go(card)


def leave(done: bool = False) -> None:
    """Go to the list of lessons; the session keeps the answers, and the card unless `done`."""
    store.put(FINISHED, None)
    learn = current.view().learn
    if learn.lesson:
        store.put(ANSWERS, {**(store.get(ANSWERS) or {}), learn.lesson: learn.answers})
        if not progress.seed_of(progress.parse(learn.values), LAST_SEED):
            card = "" if done else learn.card
            store.put(LAST_CARD, {**(store.get(LAST_CARD) or {}), learn.lesson: card})
    put(LessonPlace())


def finish(slug: str, n_right: int) -> None:
    """Go to the list of lessons, which shows the result of this one."""
    leave(done=True)
    store.put(FINISHED, (slug, n_right))


def finished() -> tuple[str, int] | None:
    """The lesson that was just finished, with the number of right answers; None for none."""
    result: tuple[str, int] | None = store.get(FINISHED)
    return result


def go(card: str) -> None:
    """Go to a card of the lesson."""
    put(replace(current.view().learn, card=card, values=""))


def turn(before: str, slug: str, card: str) -> None:
    """Go to a card by a widget of the card `before`; nothing if that is no longer on the page.

    So that a second click, made before the page has turned, does not skip a card.
    """
    if not _is_drawn(before):
        return
    if slug == current.view().learn.lesson:
        go(card)
    else:
        open_at(slug, card)


def answer(card: str, text: str) -> None:
    """Take an answer, "" to try again; nothing of a card that is no longer on the page.

    The first try counts, but in a class the answer at the reveal. Where the same run goes to
    another card, the answer is taken and the move stays.
    """
    if not _is_drawn(card):
        return
    learn = current.view().learn
    answers = progress.parse(learn.answers)
    in_class = bool(current.view().classroom.room)
    came_back = progress.seed_of(progress.parse(learn.values), LAST_SEED)
    name = card + progress.CAME_BACK if came_back and learn.card == card else card
    answers[name] = text if in_class else progress.tried(answers.get(name, ""), text)
    answers = {name: answer for name, answer in answers.items() if answer}
    put(replace(learn, card=learn.card or card, answers=progress.write(answers)))


def note_drawn(card: str) -> None:
    """Note the card that this session sees now."""
    store.put(DRAWN, card)


def _is_drawn(card: str) -> bool:
    """True if this card is on the page; a browser may report a widget late, when it has gone."""
    return bool(store.get(DRAWN, card) == card)


def set_value(card: str, name: str, value: Value) -> None:
    """Set one of a card's controls.

    A control of a card that is no longer on the page changes nothing: it would turn the whole class
    back to it.
    """
    if not _is_drawn(card) or current.view().learn.card not in ("", card):
        return
    learn = current.view().learn
    values = {**progress.parse(learn.values), name: str(value)}
    put(replace(learn, card=card, values=progress.write(values)))


def set_nearest(card: str, name: str, number: float) -> None:
    """Set a slider of the open card to its stop nearest to a number."""
    controls = course_lessons.lesson(current.view().learn.lesson).recipe(card).controls
    for control in controls:
        if control.name == name and isinstance(control, Slider):
            set_value(card, name, min(control.stops, key=lambda stop: abs(stop - number)))
