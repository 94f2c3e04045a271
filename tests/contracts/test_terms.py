"""docs/terms.md: each language uses its word for a thing, and none of those that are forbidden."""

import re
from pathlib import Path

import pytest

from attnviz import i18n
from attnviz.i18n.numbers import percent_sign
from attnviz.teach.course import SLUGS
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.texts import lesson_texts
from tests.contracts import project

COLUMNS = (*i18n.LANGUAGES, "meaning", "never")
FORBIDDEN = re.compile(rf"({'|'.join(i18n.LANGUAGES)}): ([^;]+)")
# a word of these languages stands in some text of the app; some English rows name two things
IN_USE = tuple(lang for lang in i18n.COMPLETE if lang != i18n.DEFAULT)
PARTS = re.compile(r"[、,]\s*")


def rows() -> list[dict[str, str]]:
    """The rows of the table."""
    lines = project.read(project.ROOT / "docs" / "terms.md").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells[2:]]


def forbidden(lang: str) -> list[str]:
    """The words that a language does not use."""
    return [
        word.strip()
        for row in rows()
        for name, words in FORBIDDEN.findall(row["never"])
        if name == lang
        for word in words.split(",")
    ]


def all_texts(lang: i18n.Language) -> dict[str, str]:
    """Every text of a language, of the interface and of the lessons."""
    texts = dict(i18n.catalogue(lang))
    for slug in SLUGS:
        lesson = lesson_texts(slug, lang)
        front = (lesson.title, lesson.summary, lesson.goal, lesson.keep, lesson.discuss)
        texts |= {f"{slug} {number}": text for number, text in enumerate(front)}
        for card, keys in lesson.cards.items():
            texts |= {f"{slug}/{card}.{key}": text for key, text in keys.items()}
    for entry in glossary.entries(lang).values():
        texts |= {f"glossary {entry.name}": f"{entry.term}\n{entry.meaning}"}
    return texts


def uses(texts: dict[str, str], words: list[str]) -> list[str]:
    """Each text that has one of the words."""
    return [f"{key}: {word}" for key, text in texts.items() for word in words if word in text]


@pytest.mark.parametrize("lang", i18n.COMPLETE)
def test_a_language_has_one_word_for_a_thing(lang: i18n.Language) -> None:
    assert forbidden(lang)
    assert uses(all_texts(lang), forbidden(lang)) == []


@pytest.mark.parametrize("lang", IN_USE)
def test_the_listed_words_are_used(lang: i18n.Language) -> None:
    everything = "\n".join(all_texts(lang).values()).replace(" ", "")
    words = [word.replace(" ", "") for row in rows() for word in PARTS.split(row[lang])]
    assert [word for word in words if word not in everything] == []


# a number and its percent sign are written in one way everywhere: 19%, in Spanish 19 %
PERCENT = re.compile(r"(?<=[\d\]}*])\s?%(?![\w(])")
FORM = re.compile(r":[^\[\]]*(?=\]\])")  # of a number that a card fills in: `[[kept:.0%]]`


def apart(texts: dict[str, str], sign: str = "%") -> list[str]:
    """The texts with a percent sign that is written in another way."""
    return [key for key, text in texts.items() if {*PERCENT.findall(FORM.sub("", text))} - {sign}]


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_percent_sign_follows_its_number(lang: i18n.Language) -> None:
    english = all_texts("en")
    own = {key: said for key, said in all_texts(lang).items() if said != english[key]}
    assert apart(own if i18n.is_beta(lang) else all_texts(lang), percent_sign(lang)) == []


def test_a_percent_sign_follows_its_number_in_canvases_too(root: Path) -> None:
    scripts = [*(root / "attnviz/pictures").rglob("*.js"), *(root / "attnviz/live").rglob("*.js")]
    written = {path.name: path.read_text(encoding="utf-8") for path in scripts}
    assert apart({name: without_comments(source) for name, source in written.items()}) == []


def without_comments(script: str) -> str:
    """A script without its comments, and with its escaped spaces as spaces."""
    bare = re.sub(r"/\*.*?\*/|(?m:(?<!:)//.*$)", "", script, flags=re.DOTALL)
    return re.sub(r"\\u(2009|202f|00a0)", " ", bare)


def test_a_percent_sign_apart_is_found() -> None:
    assert apart({"a": "[[share:.0f]] % of them", "b": "19%", "c": "{n}\u00a0%"}) == ["a", "c"]
    assert apart({"a": "19%", "b": "{n}\u00a0%"}, "\u00a0%") == ["a"]
    script = "return `${digits}\\u2009%`; // 19 %"
    assert apart({"a": without_comments(script)}) == ["a"]


# rows of the table that are no terms to learn: they fix a translation, or name parts of the app
NOT_TAUGHT = {
    *("blocked", "may attend", "copy", "previous token", "next token", "random", "URL"),
    *("lesson, class", "cell", "window"),
}


def taught() -> set[str]:
    """The English terms of the glossary."""
    return {entry.term for entry in glossary.entries("en").values()}


def without_an_entry(terms: set[str]) -> list[str]:
    """Terms of the table that neither stand in the glossary nor are left out of it by name."""
    names = {part.split(" (")[0] for term in terms for part in term.split(", ")[:1]}
    known = taught() | NOT_TAUGHT | {term.split(", ")[0] for term in NOT_TAUGHT}
    return sorted(
        name for name in names if name not in known and not any(name in term for term in taught())
    )


def test_each_term_has_an_entry_in_the_glossary() -> None:
    assert without_an_entry({row["en"] for row in rows()}) == []
    assert without_an_entry({"backpropagation"}) == ["backpropagation"]


def test_the_glossary_uses_the_words_of_the_table() -> None:
    """Where both have a term, the glossary's word is the table's in each language."""
    table = {row["en"]: row for row in rows()}
    unlike = [
        f"{lang} {entry.name}: {entry.term}, not {table[english][lang]}"
        for lang in IN_USE
        for entry in glossary.entries(lang).values()  # type: ignore[arg-type]
        if (english := glossary.entries("en")[entry.name].term) in table
        and entry.term not in PARTS.split(table[english][lang])
    ]
    assert unlike == []


def test_a_forbidden_word_is_found() -> None:
    assert uses({"a": "印刷された写し取り"}, ["写し取"]) == ["a: 写し取"]
    assert "창발" in forbidden("ko")
