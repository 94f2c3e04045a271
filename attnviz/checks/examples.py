"""The example texts of each model with their hints and first cells, and words that it cannot know.

In: a model's name. Out: its `Example`s, the first of which the model opens with; a hint for each in
the visitor's language. A head that a hint names is the one that the model's card names for it.
Sentences to run are data: they stand here, or in the world that the model was trained on. An
`Opening` is the head with the largest difference, on its model's first example, between the weight
from a query to a key and the other rows' mean weight on it (`pictures.group.ranking`); a test
measures all of them again. A head in which every row attends to one key does not pass this control.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Protocol, runtime_checkable

from attnviz import i18n
from attnviz.checks import card
from attnviz.i18n import DEFAULT, Language, text
from attnviz.models.registry import REGISTRY
from attnviz.types import HeadId, Kind, Stack
from attnviz.worlds import vocabulary

FOR_ANY_MODEL = ("tired", "wide", "bank", "names", "short", "japanese", "korean", "chinese")
HINTS_FOR_MINILM = {"tired", "japanese", "korean", "chinese"}  # they hold for that model alone
WORLDS = ("translator", "dates")  # models whose world has a list of its words
SCRIPTS = {"en": "LATIN", "fr": "LATIN"}  # how Unicode names begin for letters of a language
KNOWN_LANGUAGES = {"minilm": ("en",)}  # of models without a card in `checks`
YEAR = re.compile(r"\d{4}")
MIN_SIMILARITY = 0.75  # of the words of an example and of a text, 0 to 1


@dataclass(frozen=True)
class Example:
    """A text to run, and the name of its hint.

    The hint names the head whose note on the card matches the pattern `habit`; `group` names the
    hint where examples share one."""

    name: str
    text: str
    habit: str = ""
    group: str = ""

    @property
    def hint(self) -> str:
        """The name of the hint's text."""
        return self.group or self.name


@runtime_checkable
class World(Protocol):
    """The module of a world with a limited vocabulary."""

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


OWN_EXAMPLES = {"stories": STORIES, "stories-llama": STORIES, "sentiment": SENTIMENT}


def of_model(model: str) -> tuple[Example, ...]:
    """The examples of a model, its own ones or those for any model that reads text."""
    if model in WORLDS and model in REGISTRY:
        sentences = enumerate(_world(model).EXAMPLES)
        return tuple(Example(f"{model}{n}", sentence, ".", model) for n, sentence in sentences)
    if model in OWN_EXAMPLES:
        return OWN_EXAMPLES[model]
    return _for_any_model()


@cache
def _for_any_model() -> tuple[Example, ...]:
    """The examples without a model of their own; every link of a page asks for them."""
    return tuple(Example(name, text(i18n.DEFAULT, f"example.{name}")) for name in FOR_ANY_MODEL)


def texts(model: str) -> tuple[str, ...]:
    """The texts of a model's examples."""
    return tuple(example.text for example in of_model(model))


def after_switch(before: str, after: str, current: str) -> str:
    """The text for another model: a typed text stays, an example gives way to a fitting one."""
    if current in texts(after) or (current.strip() and current not in texts(before)):
        return current
    return texts(after)[0]


def contrast(model: str, current: str) -> str:
    """A text that differs from this one in a word or two; the text itself if none is known.

    It is the counterpart in `CONTRASTS`, in either direction, or the most similar example.
    """
    counterparts = CONTRASTS | {second: first for first, second in CONTRASTS.items()}
    if current in counterparts:
        return counterparts[current]
    words = current.split()
    similarity = {
        other: SequenceMatcher(None, words, other.split(), autojunk=False).ratio()
        for other in texts(model)
        if other != current
    }
    best = max(similarity, key=similarity.__getitem__, default=current)
    return best if similarity.get(best, 0.0) >= MIN_SIMILARITY else current


def hint(lang: Language, model: str, current: str) -> str | None:
    """A sentence on what to look at; None for a text that is not an example of the model."""
    example = next((example for example in of_model(model) if example.text == current), None)
    if example is None or (example.name in HINTS_FOR_MINILM and model != "minilm"):
        return None
    sentence = text(lang, f"example_hint.{example.hint}")
    model_card = card(model) if example.habit else None
    notes = () if model_card is None else model_card.description.heads
    fitting = (note for note in notes if re.search(example.habit, note.does, re.IGNORECASE))
    note = next(fitting, None)  # on the head of which the model's card says that habit
    if note is None:
        return sentence
    return text(lang, "example_hint.visit", hint=sentence, head=note.head)


def languages(model: str) -> tuple[str, ...]:
    """The codes of the languages that a model was trained on; none if that is not known."""
    model_card = card(model)
    if model_card is None:
        return KNOWN_LANGUAGES.get(model, ())
    return model_card.description.languages


def foreign_letters(model: str, current: str) -> str:
    """The letters of a text that no language of the model is written in, each once."""
    codes = languages(model)
    if not codes or not all(code in SCRIPTS for code in codes):
        return ""
    prefixes = tuple({SCRIPTS[code] for code in codes})
    return "".join(dict.fromkeys(_letters_outside(current, prefixes)))


def _letters_outside(current: str, prefixes: tuple[str, ...]) -> Iterator[str]:
    for char in current:
        letter = unicodedata.category(char).startswith("L")
        if letter and not unicodedata.name(char, "").startswith(prefixes):
            yield char


def unknown_words(model: str, current: str) -> tuple[str, ...]:
    """The words of a text that the model's world does not have; none of its own examples."""
    if model not in REGISTRY or any(current == example.text for example in of_model(model)):
        return ()
    if model in WORLDS:
        return _world(model).unknown_words(current)
    return vocabulary.unknown_story_words(current) if OWN_EXAMPLES.get(model) is STORIES else ()


def has_no_date(model: str, current: str) -> bool:
    """True if `dates` is to read a text without a four-digit year."""
    return model == "dates" and YEAR.search(current) is None


def _world(model: str) -> World:
    from attnviz.worlds import dates, french  # word lists: not before they are needed

    return {"translator": french, "dates": dates}[model]


@dataclass(frozen=True)
class Opening:
    """A head with a query and a key, by position and by token, and what was measured there.

    `weight` is the head's weight from the query to the key, `others` the mean of its other rows.
    """

    head: HeadId
    query: int
    key: int
    query_token: str
    key_token: str
    weight: float
    others: float
    stack: Stack | None = None
    kind: Kind | None = None


OPENINGS = {
    "minilm": Opening(HeadId(3, 1), 10, 2, "it", "animal", 0.68, 0.11),
    "mha-55": Opening(HeadId(0, 0), 2, 0, "x3", "x1", 0.27, 0.12),
    "stories": Opening(HeadId(2, 1), 14, 2, "to", "Mary", 0.98, 0.08),
    "stories-llama": Opening(HeadId(1, 4), 14, 4, "to", "John", 0.99, 0.10),
    "translator": Opening(
        HeadId(1, 2), 2, 3, "petit", "cat", 1.00, 0.00, stack="decoder", kind="cross"
    ),
    "dates": Opening(HeadId(1, 2), 3, 9, "4", "8", 1.00, 0.02, stack="decoder", kind="cross"),
    "shapes": Opening(HeadId(0, 0), 0, 22, "[CLS]", "r3c3", 0.53, 0.03),
    "sentiment": Opening(HeadId(0, 3), 5, 3, "good", "not", 0.94, 0.07),
}


# what the other examples for any model show in MiniLM, by their names; chosen by the same measure
SIGHTS = {
    "wide": Opening(HeadId(3, 1), 10, 2, "it", "animal", 0.28, 0.12),
    "bank": Opening(HeadId(0, 4), 5, 8, "bank", "river", 0.69, 0.06),
    "names": Opening(HeadId(2, 9), 10, 4, "John", "John", 0.86, 0.01),
    "short": Opening(HeadId(0, 2), 3, 2, "sat", "cat", 1.00, 0.00),
}


def sight(model: str, sentence: str) -> Opening | None:
    """The head, query and key worth seeing in an example; None for any other text or model."""
    names = {text(DEFAULT, f"example.{name}"): name for name in SIGHTS}
    return SIGHTS[names[sentence]] if model == "minilm" and sentence in names else None
