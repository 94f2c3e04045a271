"""The glossary: each term of the lessons, its meaning in each language, the card that teaches it.

In: `content/glossary/<lang>.toml`, a table for each term with `term` and `meaning`. The English
file also has `card`, the card that teaches the term ("ask/values"), and `forms`, further forms
under which the term is searched for. Out: entries in the order of teaching; the terms on a card,
found in its English sentences, so that they are the same in every language. Beside them the parts
of a model, as its map names them: the card that teaches each, and those that a card is about.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from attnviz.i18n import DEFAULT, Language, is_beta
from attnviz.pictures.model_map import PartName
from attnviz.teach.lessons.cards.texts import lesson_texts

CardPath = tuple[str, str]  # a lesson and one of its cards
ModelSize = tuple[int, tuple[PartName, ...]]
HOLES = re.compile(r"\[\[[^\]]*\]\]")
READ = ("title", "text", "question", "option.", "panel.", "control.")
READ_LATER = ("reveal", "takeaway", "feedback.")  # once the card's question is answered
CARDS_OF_PARTS: Mapping[PartName, CardPath] = {
    "tokens": ("where", "tokens"),
    "embedding": ("where", "vectors"),
    "place": ("positions", "table"),
    "norm": ("where", "norm"),
    "attention": ("ask", "dictionary"),
    "add": ("where", "stream"),
    "mlp": ("where", "mlp"),
    "logits": ("where", "logits"),
    "softmax": ("block", "softmax"),
}
PARTS_OF_CARDS: Mapping[CardPath, tuple[PartName, ...]] = {
    ("where", "next"): ("tokens", "softmax"),
    ("where", "tokens"): ("tokens",),
    ("where", "script"): ("tokens",),
    ("where", "vectors"): ("embedding", "place"),
    ("where", "stream"): ("add",),
    ("where", "mlp"): ("mlp",),
    ("where", "norm"): ("norm",),
    ("where", "logits"): ("logits", "softmax"),
    ("where", "parts"): ("attention", "mlp"),
    ("block", "softmax"): ("attention", "softmax"),
    ("positions", "table"): ("place",),
    ("positions", "waves"): ("place",),
    ("positions", "offsets"): ("place",),
    ("positions", "learned"): ("place",),
    ("birth", "needs"): ("attention", "add"),
}
# (layers, the parts that the model does not have): of the story model, whose parts lesson 0 names,
# of a card's own model, and of a circuit made by hand
STORY_MODEL: ModelSize = (4, ())
TRAINED_LIVE: ModelSize = (2, ("place", "mlp"))  # positions enter q and k alone
BY_HAND: ModelSize = (2, ("place", "norm", "mlp", "logits", "softmax"))
MODELS_OF_CARDS: Mapping[CardPath, ModelSize] = {
    ("birth", "by_hand"): BY_HAND,
    ("birth", "removed"): BY_HAND,
    ("birth", "live"): TRAINED_LIVE,
    ("birth", "expect"): TRAINED_LIVE,
    ("birth", "ablate"): TRAINED_LIVE,
}


@dataclass(frozen=True)
class GlossaryEntry:
    """A term in one language, with one or two sentences on it and the card that teaches it."""

    name: str
    term: str
    meaning: str
    card: CardPath


@cache
def entries(lang: Language) -> Mapping[str, GlossaryEntry]:
    """The entries by their names, in the order in which the lessons teach them."""
    texts, cards = _read(lang), _read(DEFAULT)
    return {
        name: GlossaryEntry(name, texts[name]["term"], texts[name]["meaning"], _path(cards[name]))
        for name in cards
    }


@cache
def terms_on(slug: str, card: str, answered: bool = True) -> tuple[str, ...]:
    """The names of the entries whose terms a card uses, in the order of teaching.

    Until its question is `answered`, those that only its answer uses are left out: a term can give
    the answer away.
    """
    read = (*READ, *READ_LATER) if answered else READ
    texts = lesson_texts(slug, DEFAULT).cards[card]
    sentences = "\n".join(HOLES.sub(" ", texts[key]) for key in texts if key.startswith(read))
    return tuple(name for name, pattern in _patterns().items() if pattern.search(sentences))


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """For each entry a pattern of its English forms, as whole words."""
    return {
        name: _words([str(entry["term"]), *entry.get("forms", ())])
        for name, entry in _read(DEFAULT).items()
    }


def _words(forms: list[str]) -> re.Pattern[str]:
    """A pattern that matches any of the forms as whole words.

    >>> bool(_words(["key"]).search("Keys, keyboard")), bool(_words(["key"]).search("a key."))
    (False, True)
    """
    either = "|".join(sorted(map(re.escape, forms), key=len, reverse=True))
    return re.compile(rf"(?<![\w√])(?:{either})(?!\w)", re.IGNORECASE)


def _path(entry: Mapping[str, str]) -> CardPath:
    slug, _, card = entry["card"].partition("/")
    return slug, card


@cache
def _read(lang: Language) -> Mapping[str, Mapping[str, str]]:
    found = own(lang)
    if not is_beta(lang):
        return found
    return {name: found.get(name, entry) for name, entry in _read(DEFAULT).items()}


def own(lang: Language) -> Mapping[str, Mapping[str, str]]:
    """The entries of the language's own file, by name; a language in beta may have none yet."""
    source = files("attnviz.teach.lessons").joinpath("content", "glossary", f"{lang}.toml")
    if is_beta(lang) and not source.is_file():
        return {}
    return tomllib.loads(source.read_text(encoding="utf-8"))


def parts_of(slug: str, card: str) -> tuple[PartName, ...]:
    """The parts that a card is about: attention, unless it says otherwise."""
    return PARTS_OF_CARDS.get((slug, card), ("attention",))


def model_of(slug: str, card: str) -> ModelSize:
    """The number of layers of the model that a card's map shows, and the parts that it lacks."""
    return MODELS_OF_CARDS.get((slug, card), STORY_MODEL)
