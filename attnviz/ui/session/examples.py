"""What each model is given to read: examples in the languages that it knows, and what to look at.

In: a model's name. Out: its `Example`s, the first of which the model opens with; a hint for each in
the visitor's language. A head that a hint names is the one that the model's card names for it.
Sentences to run are data: they stand here, or in the world that the model was trained on.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Protocol, runtime_checkable

from attnviz import i18n
from attnviz.checks import card
from attnviz.checks.cards import HeadNote
from attnviz.i18n import Language, text
from attnviz.models.registry import REGISTRY

OF_ANY = ("tired", "wide", "bank", "names", "short", "japanese", "korean", "chinese")
OF_MINILM = {"tired", "japanese", "korean", "chinese"}  # hints that hold for that model alone
WORLDS = ("translator", "dates")  # the models whose world says which words it has
SCRIPTS = {"en": "LATIN", "fr": "LATIN"}  # how Unicode names begin for letters of a language
KNOWN_LANGUAGES = {"minilm": ("en",)}  # of models without a card of ours
YEAR = re.compile(r"\d{4}")
LEAST_ALIKE = 0.75  # the share of words that an example must have in common with another text


@dataclass(frozen=True)
class Example:
    """A text to run under a name of its own. `habit` is what the card must say of a head for the
    hint to name it; `group` names the hint where examples share one."""

    name: str
    text: str
    habit: str = ""
    group: str = ""

    @property
    def hint(self) -> str:
        """The name of the sentence that says what to look at."""
        return self.group or self.name


@runtime_checkable
class World(Protocol):
    """What `worlds` offers for a model that knows only some words."""

    EXAMPLES: tuple[str, ...]

    def unknown_words(self, text: str) -> tuple[str, ...]: ...


TIRED = "The animal didn't cross the street because it was too tired"
STORIES = (
    Example("store", "When Mary and John went to the store, John gave a book to", "gets it"),
    Example("antecedent", f"{TIRED}."),
    Example("asked", f"{TIRED}. What was too tired? The", "stands for"),
    Example("once", "Once upon a time there was a"),
    Example(
        "repeated",
        "moon apple river seven door cloud moon apple river seven door cloud moon apple",
        "induction",
    ),
    Example("fact", "The capital of France is"),
    Example("opposite", "The opposite of hot is"),
)
SENTIMENT = (
    Example("negated", "This is not a good film.", r"negat|\bnot\b"),
    Example("plain", "This is a good film."),
    Example("never", "The story was never boring.", r"negat|\bnot\b"),
    Example("astray", "I did not read the book, but the film was wonderful.", r"negat|\bnot\b"),
    Example("only", "The acting was not only good, it was brilliant."),
)
CONTRASTS = {
    f"{TIRED}.": f"{TIRED.removesuffix('tired')}wide.",
    "She sat on the bank of the river and thought about the bank loan.": (
        "She sat on the side of the river and thought about the bank loan."
    ),
    "When Mary and John went to the store, John gave a book to Mary.": (
        "When Mary and John went to the store, Mary gave a book to John."
    ),
    "The cat sat on the mat.": "The dog sat on the mat.",
    "動物は疲れていたので、通りを渡らなかった。": "動物は疲れていたので、道を渡らなかった。",
    "그 동물은 너무 피곤해서 길을 건너지 않았다.": "그 아이는 너무 피곤해서 길을 건너지 않았다.",
    "那只动物太累了，所以没有过马路。": "那只动物太饿了，所以没有过马路。",
    "When Mary and John went to the store, John gave a book to": (
        "When Mary and John went to the store, Mary gave a book to"
    ),
    "Once upon a time there was a": "Once upon a time there lived a",
    "The little white cat sees a green apple.": "The little black cat sees a green apple.",
    "I saw her yesterday.": "I saw him yesterday.",
    "Monday, January 12, 1948": "Monday, October 12, 1948",
    "The story was never boring.": "The story was very boring.",
}
TYPED_HERE = {"stories": STORIES, "stories-llama": STORIES, "sentiment": SENTIMENT}


def of(model: str) -> tuple[Example, ...]:
    """The examples of a model, its own ones or those for any model that reads text."""
    if model in WORLDS and model in REGISTRY:
        known = enumerate(_world(model).EXAMPLES)
        return tuple(Example(f"{model}{n}", each, ".", model) for n, each in known)
    if model in TYPED_HERE:
        return TYPED_HERE[model]
    return tuple(Example(name, text(i18n.DEFAULT, f"example.{name}")) for name in OF_ANY)


def texts(model: str) -> tuple[str, ...]:
    """The texts alone."""
    return tuple(example.text for example in of(model))


def after_switch(before: str, after: str, shown: str) -> str:
    """The text for another model: what a visitor typed stays, an example gives way to a fitting."""
    if shown in texts(after) or (shown.strip() and shown not in texts(before)):
        return shown
    return texts(after)[0]


def contrast(model: str, shown: str) -> str:
    """What to hold against a text: one that differs in a word or two; itself where none is known.

    An example has its counterpart below, or is the counterpart of another, or resembles another.
    """
    known = CONTRASTS | {other: one for one, other in CONTRASTS.items()}
    if shown in known:
        return known[shown]
    words = shown.split()
    ratio = {
        other: SequenceMatcher(None, words, other.split(), autojunk=False).ratio()
        for other in texts(model)
        if other != shown
    }
    best = max(ratio, key=ratio.__getitem__, default=shown)
    return best if ratio.get(best, 0.0) >= LEAST_ALIKE else shown


def hint(lang: Language, model: str, shown: str) -> str | None:
    """What to look at in a text; None where it is no example, or nothing is known of the model."""
    found = next((example for example in of(model) if example.text == shown), None)
    if found is None or (found.name in OF_MINILM and model != "minilm"):
        return None
    said = text(lang, f"example_hint.{found.hint}")
    note = _note(model, found.habit)
    return said if note is None else text(lang, "example_hint.visit", hint=said, head=note.head)


def _note(model: str, habit: str) -> HeadNote | None:
    """The head for which the card states a habit."""
    known = card(model) if habit else None
    notes = () if known is None else known.description.heads
    return next((note for note in notes if re.search(habit, note.does, re.IGNORECASE)), None)


def languages(model: str) -> tuple[str, ...]:
    """The codes of the languages that a model was trained on; none where that is not known."""
    known = card(model)
    return KNOWN_LANGUAGES.get(model, ()) if known is None else known.description.languages


def foreign_letters(model: str, shown: str) -> str:
    """The letters of a text that no language of the model is written in, each once."""
    spoken = languages(model)
    if not spoken or not all(each in SCRIPTS for each in spoken):
        return ""
    prefixes = tuple({SCRIPTS[each] for each in spoken})
    return "".join(dict.fromkeys(_letters_outside(shown, prefixes)))


def _letters_outside(shown: str, prefixes: tuple[str, ...]) -> Iterator[str]:
    for char in shown:
        letter = unicodedata.category(char).startswith("L")
        if letter and not unicodedata.name(char, "").startswith(prefixes):
            yield char


def unknown_words(model: str, shown: str) -> tuple[str, ...]:
    """The words of a text that the model's world does not have."""
    return _world(model).unknown_words(shown) if model in WORLDS and model in REGISTRY else ()


def has_no_date(model: str, shown: str) -> bool:
    """Whether `dates` is given a text without a year as it knows them."""
    return model == "dates" and YEAR.search(shown) is None


def _world(model: str) -> World:
    from attnviz.worlds import dates, french  # word lists: not before they are needed

    return {"translator": french, "dates": dates}[model]
