"""The texts of the lessons: one file per lesson and language, read into cards' texts.

In: `content/<slug>/<lang>.md`. It begins with front matter between two lines of `---` (title,
summary, goal: the ability that a learner gains, keep: the sentence to remember, discuss: a question
for a class to talk about, and perhaps words: "the=その | cat=猫", for `example_words`); then each
card is `# name`, and each of its texts `## key`. Out: `LessonTexts`.

A placeholder is `[[name]]` or `[[name:.2f]]`, filled from the numbers of the built card: no number
is typed into a text. Text that a learner typed is inserted as plain text, never as markup. English
words that it inserts into a sentence of another language are marked (`i18n.in_english`).

Keys of a card: title, text, and takeaway, the sentence to keep; question, reveal and
feedback.<mistake>, feedback.other where it asks; option.<name> for the options of a choice;
control.<name> and control.<name>.<option>; panel.<name>, series.<name>, axis.<name>, scene.<name>
of its pictures.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

from attnviz.i18n import (
    DEFAULT,
    Language,
    MissingText,
    in_english,
    is_beta,
    outside_bold,
    particles,
    with_terms,
)
from attnviz.i18n.numbers import local
from attnviz.teach.lessons.cards import symbols
from attnviz.teach.lessons.cards.card import Card, NotEnglish, Numbers, Terms

FENCE = "---"
FRONT_MATTER = ("title", "summary", "goal", "keep", "discuss")
WORDS = "words"  # may stand there, too
HOLE = r"\[\[(?P<name>\w+)(?::(?P<form>[^\]]+))?\]\]"
PLACEHOLDER = re.compile(HOLE)
PARTICLE = particles.pattern(HOLE)  # a Korean particle behind a placeholder
# a number at the beginning of a line, with the full stop that would make it a list
LIST_MARK = re.compile(r"^(\[\[[^\]]+\]\])([.)])", re.MULTILINE)
MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|$~:&])")
LINE = re.compile(r"^(\s*(?:[-*] |\d+\. )?)(.+)$", re.MULTILINE)  # an item's mark, and its words
# letters of English with a word among them, as `IN_ENGLISH` of pictures/shared/dom.js
IN_ENGLISH = re.compile(r"(?=.*[A-Za-z]{2})[ -~‘’“”–—…→·␣⏎▁Ġ]+")


@dataclass(frozen=True)
class LessonTexts:
    """The texts of a lesson in one language; `cards` maps card name and key to a template.

    `words` maps the English words of made-up examples to those of the language. The cards in
    `in_english` have no text of the language yet.
    """

    title: str
    summary: str
    goal: str
    keep: str
    discuss: str
    cards: Mapping[str, Mapping[str, str]]
    words: Mapping[str, str] = field(default_factory=dict)
    in_english: frozenset[str] = frozenset()
    lang: Language = DEFAULT

    def of(self, card: str, key: str) -> str:
        """The template of a card's text; raises `MissingText` for one that is not there."""
        try:
            return self.cards[card][key]
        except KeyError:
            raise MissingText(f"no text {key!r} of card {card!r} in {self.title!r}") from None

    @property
    def n_questions(self) -> int:
        """The number of cards with a question."""
        return sum(self.has(card, "question") for card in self.cards)

    def has(self, card: str, key: str) -> bool:
        """True if the card has this text."""
        return key in self.cards.get(card, {})


@cache
def lesson_texts(slug: str, lang: Language) -> LessonTexts:
    """The texts of a lesson; a language that lands in parts has English cards among its own."""
    own = own_texts(slug, lang)
    if own is not None and not is_beta(lang):
        return own
    english = lesson_texts(slug, DEFAULT)
    if own is None:
        return replace(english, in_english=frozenset(english.cards), lang=lang)
    return filled_up(own, english)


def own_texts(slug: str, lang: Language) -> LessonTexts | None:
    """The texts in the language's own file; None where a language in beta has none yet."""
    source = files("attnviz.teach.lessons").joinpath("content", slug, f"{lang}.md")
    if is_beta(lang) and not source.is_file():
        return None
    return replace(parse(source.read_text(encoding="utf-8")), lang=lang)


def filled_up(texts: LessonTexts, english: LessonTexts) -> LessonTexts:
    """The texts with the cards in English that they do not have, in the order of the English ones.

    A card whose keys or placeholders are not those of the English one is not taken: it is older.
    """
    missing = frozenset(name for name in english.cards if not _is_whole(texts, english, name))
    cards = {name: (english if name in missing else texts).cards[name] for name in english.cards}
    return replace(texts, cards=cards, in_english=missing)


def _is_whole(texts: LessonTexts, english: LessonTexts, card: str) -> bool:
    def holes(of: LessonTexts) -> dict[str, set[str]]:
        return {key: placeholders(template) for key, template in of.cards[card].items()}

    return card in texts.cards and holes(texts) == holes(english)


def parse(source: str) -> LessonTexts:
    """The texts in a file; raises `ValueError` for one that is not in the form described above."""
    head, _, body = source.removeprefix(FENCE).partition(f"\n{FENCE}\n")
    lines = (line.partition(":") for line in head.strip().splitlines())
    about = {name.strip(): value.strip() for name, _, value in lines}
    pairs = (pair.partition("=") for pair in about.pop(WORDS, "").split("|"))
    words = {english.strip(): word.strip() for english, _, word in pairs if word}
    cards: dict[str, dict[str, str]] = {}
    for name, rest in _parts(body, "# "):
        if name in cards:
            raise ValueError(f"two cards are named {name!r}")
        cards[name] = dict(_parts(rest, "## "))
    if about.keys() != set(FRONT_MATTER) or not cards:
        raise ValueError(
            f"front matter has {sorted(about)}; it needs {', '.join(FRONT_MATTER)}, then cards"
        )
    title, summary, goal, keep, discuss = (about[name] for name in FRONT_MATTER)
    return LessonTexts(title, summary, goal, keep, discuss, cards, words)


def _parts(body: str, mark: str) -> list[tuple[str, str]]:
    """(heading, text below it) for each line that begins with the mark."""
    pieces = re.split(rf"^{mark}(.+)$", body, flags=re.MULTILINE)
    names, texts = pieces[1::2], pieces[2::2]
    return [(name.strip(), text.strip()) for name, text in zip(names, texts, strict=True)]


def placeholders(template: str) -> set[str]:
    """The names of the placeholders in a template."""
    return {match[1] for match in PLACEHOLDER.finditer(template)}


def fill(
    template: str,
    numbers: Numbers,
    markup: bool = True,
    lang: Language = DEFAULT,
    marks: bool = True,
) -> str:
    """The template with its placeholders filled; with `markup`, inserted texts are escaped.

    With `marks`, English ones in another language are marked besides.

    >>> fill("softmax gives [[first:.2f]]", {"first": 0.891})
    'softmax gives 0.89'
    """
    missing = placeholders(template) - numbers.keys()
    if missing:
        raise MissingText(f"the text {template[:40]!r}… needs numbers for {sorted(missing)}")
    if markup:
        template = symbols.with_formulas(LIST_MARK.sub(r"\1\\\2", template))
    if markup and marks:
        template = with_terms(lang, template)
    template = particles.choose(template, PARTICLE, lambda hole: _filled(hole, numbers, lang))
    if not markup:
        return PLACEHOLDER.sub(lambda hole: _filled(hole, numbers, lang), template)
    said = PLACEHOLDER.sub(lambda hole: _escaped(hole, numbers, lang, marks), template)
    return outside_bold(said)


def say(texts: LessonTexts, card: Card, key: str, markup: bool = True) -> str:
    """A text of a card with its numbers; an English one in its place is marked as such."""
    is_english = markup and card.name in texts.in_english
    said = fill(texts.of(card.name, key), card.numbers, markup, texts.lang, marks=not is_english)
    if not is_english:
        return said
    return LINE.sub(lambda line: line[1] + in_english(texts.lang, line[2]), said)


def _escaped(hole: re.Match[str], numbers: Numbers, lang: Language, marks: bool) -> str:
    value, said = numbers[hole["name"]], _filled(hole, numbers, lang)
    if not isinstance(value, str):
        return said
    escaped = MARKUP.sub(r"\\\1", " ".join(said.splitlines()))
    is_english = not isinstance(value, NotEnglish | Terms) and IN_ENGLISH.fullmatch(value)
    return in_english(lang, escaped) if marks and is_english else escaped


def _filled(hole: re.Match[str], numbers: Numbers, lang: Language) -> str:
    value = numbers[hole["name"]]
    if isinstance(value, str):
        return local(lang, value) if isinstance(value, Terms) else value
    form = hole["form"] or ("," if isinstance(value, int) else "")
    return local(lang, symbols.with_power(format(value, form)))
