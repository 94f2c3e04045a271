"""Texts of the interface in each language (a leaf: no torch, no streamlit).

In: a language, a dotted key ("page.head.title") and the values of its placeholders. Out: the text.
Each language is one TOML file beside this one; tables are joined with dots, so `[page.head]` with
`title = "…"` is the key `page.head.title`. The files of the languages in `COMPLETE` have the same
keys and placeholders, which a test checks. Another language may land in parts: what its file does
not have yet, or has with other placeholders, is English (`is_beta`). A key that no file has, or a
placeholder without a value, raises: a hole in a sentence is never shown.

A placeholder with two words between a bar is a plural, `{count:token|tokens}`: it prints the first
word for 1 and the second for any other number. The number itself stands in `{count}`. Browsers read
it in the same way (`fill` in pictures/shared/fmt.js).

A Korean particle behind a placeholder names both of its forms, `{token}이(가)`, and is printed in
the form that fits the value (see `particles`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from string import Formatter
from types import MappingProxyType
from typing import Literal, TypeGuard, get_args

from attnviz.i18n import numbers, particles

Language = Literal["en", "ja", "ko", "zh", "es"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
COMPLETE: tuple[Language, ...] = ("en", "ja", "ko", "zh")
DEFAULT: Language = "en"
Joint = Literal["list", "clauses"]
ENGLISH = ":color["  # in Markdown before English words in a sentence of another language, up to "]"
OTHER_SCRIPTS: tuple[Language, ...] = ("ja", "ko", "zh")  # where letters tell English words
# code or a placeholder; or the words that stand between quotes, or in brackets as a term or source
_TERM = re.compile(
    r"`[^`]*`|\[\[[^\]]*\]\]|(?P<words>(?<=[「“])[A-Za-z][A-Za-z' ]+(?=[」”])"
    r"|(?<=[（(])(?<!\]\()(?=[^（）()]*[a-z]{2})[A-Za-z][\w'’ .&-]*(?=[）)。]|[,.] [가-힣]))",
    re.ASCII,
)
_FULL_WIDTH = "：。？！"
_WIDE = re.compile("[ぁ-んァ-ヶー一-鿿々「」、。（）]")
_SPACE_AFTER = re.compile(rf"\{{(\w+)\}} (?={_WIDE.pattern})")
_SPACE_BEFORE = re.compile(rf"(?<={_WIDE.pattern}) \{{(\w+)\}}")
_IN_BOLD = re.compile(rf"\*\*{re.escape(ENGLISH)}((?:\\.|[^\]\\])*)\]\*\*")
_TAGS: Mapping[Language, str] = {"zh": "zh-CN"}


class MissingText(LookupError):
    """A text was asked for that no file has, or without a value for one of its placeholders."""


def text(lang: Language, key: str, **values: object) -> str:
    """The text of `key` in a language, its {placeholders} filled with `values`.

    >>> text("ja", "language.name")
    '日本語'
    """
    template = catalogue(lang).get(key)
    if template is None:
        raise MissingText(f"no text {key!r} in {lang}.toml; add it to all of {COMPLETE}")
    missing = placeholders(template) - values.keys()
    if missing:
        raise MissingText(f"text {key!r} in {lang}.toml needs values for {sorted(missing)}")
    return fill(template, values, lang)


def fill(template: str, values: Mapping[str, object], lang: Language = "en") -> str:
    """The template with its {placeholders} and plurals filled; a number has the language's signs.

    A number with decimals is better handed over as text (`numbers.number`), rounded.

    >>> fill("{n} {n:token|tokens}", {"n": 1}), fill("{n} {n:token|tokens}", {"n": 2})
    ('1 token', '2 tokens')
    >>> fill("{n} 動く", {"n": "0.5"}, "ja"), fill("{n} 動く", {"n": "5 ポイント"}, "ja")
    ('0.5 動く', '5 ポイント動く')
    """
    printed = {name: _printed(lang, value) for name, value in values.items()}
    if _depends_on_values(template):
        chosen = particles.choose(template, _AFTER_VALUE, lambda match: printed.get(match["name"]))
        template = _closed_up(chosen, printed)
    parts = (
        literal if name is None else literal + _chosen(printed[name], plural)
        for literal, name, plural in _parsed(template)
    )
    return outside_bold("".join(parts))


@lru_cache(maxsize=8192)
def _parsed(template: str) -> tuple[tuple[str, str | None, str], ...]:
    """The words before each placeholder, its name, and its plural "one|other" if it is one."""
    return tuple(
        (literal, name, plural or "") for literal, name, plural, _ in Formatter().parse(template)
    )


def _chosen(printed: str, plural: str) -> str:
    """A value as it is printed, or the word that goes with it."""
    if not plural:
        return printed
    one, _, other = plural.partition("|")
    return one if printed == "1" else other


@lru_cache(maxsize=8192)
def _depends_on_values(template: str) -> bool:
    """True if a particle or a space of the template goes by the values."""
    patterns = (_AFTER_VALUE, _SPACE_AFTER, _SPACE_BEFORE)
    return any(pattern.search(template) for pattern in patterns)


def _closed_up(template: str, printed: Mapping[str, str]) -> str:
    """The template without a space between Japanese or Chinese signs of its own and of a value.

    These texts set a space between their signs and a number or a Latin word. Browsers close up in
    the same way (pictures/shared/fmt.js).
    """
    for pattern, end in ((_SPACE_AFTER, -1), (_SPACE_BEFORE, 0)):
        template = pattern.sub(
            lambda match, end=end: (  # type: ignore[misc]
                match[0].strip() if _WIDE.match(printed.get(match[1], "")[end:][:1]) else match[0]
            ),
            template,
        )
    return template


def _printed(lang: Language, value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return numbers.number(lang, value) if is_number else str(value)


_AFTER_VALUE = particles.pattern(r"\{(?P<name>\w+)\}")


def has(key: str) -> bool:
    """True if there is a text under this key."""
    return key in catalogue(DEFAULT)


def joined(lang: Language, parts: Iterable[str], joint: Joint = "list") -> str:
    """The parts as the language writes a list of words, or of clauses that have commas.

    >>> joined("en", ["a", "b"]), joined("ja", ["a", "b"]), joined("zh", ["a", "b"], "clauses")
    ('a, b', 'a、b', 'a；b')
    """
    return text(lang, f"joint.{joint}", before="", after="").join(parts)


def labelled(label: str, said: str) -> str:
    """A label in bold before what it says, as Markdown; no space follows a full-width sign.

    The sign stands outside the bold part: Markdown ends no bold text between sign and letter.

    >>> labelled("Goal:", "read"), labelled("目標：", "読む")
    ('**Goal:** read', '**目標**：読む')
    """
    word = label.rstrip(_FULL_WIDTH)
    return f"**{label}** {said}" if word == label else f"**{word}**{label[len(word) :]}{said}"


def in_english(lang: Language, words: str) -> str:
    """English words as Markdown in a sentence of the language, marked where that is another.

    Streamlit makes an element of the mark, which the script of the page gives its language
    (app/host/language.js); paper and classes read it in `teach.lessons.paper.markdown`.

    >>> in_english("en", "the cat"), in_english("ja", "the cat")
    ('the cat', ':color[the cat]')
    """
    return words if lang == DEFAULT or not words else f"{ENGLISH}{words}]"


def with_terms(lang: Language, said: str) -> str:
    """The Markdown with its English words marked, where another script tells them: quotes, terms.

    >>> with_terms("ja", "「it」とシンク（sink）"), with_terms("es", "“it” (sink)")
    ('「:color[it]」とシンク（:color[sink]）', '“it” (sink)')
    """
    if lang not in OTHER_SCRIPTS:
        return said
    return _TERM.sub(lambda found: in_english(lang, found["words"] or "") or found[0], said)


def outside_bold(said: str) -> str:
    """The Markdown with marks of English around bold words: in a bold part they would end none.

    A letter follows such a part in Korean, and Markdown ends no bold text between sign and letter.

    >>> outside_bold("**:color[cat]**이")
    ':color[**cat**]이'
    """
    return _IN_BOLD.sub(rf"{ENGLISH}**\1**]", said) if ENGLISH in said else said


def section(lang: Language, prefix: str) -> dict[str, str]:
    """The templates whose key starts with `prefix.`, by the rest of their key."""
    start = f"{prefix}."
    templates = {
        key.removeprefix(start): template
        for key, template in catalogue(lang).items()
        if key.startswith(start)
    }
    if not templates:
        raise MissingText(f"no text starts with {start!r} in {lang}.toml")
    return templates


def is_language(code: object) -> TypeGuard[Language]:
    """True if the interface speaks this language."""
    return isinstance(code, str) and code in LANGUAGES


def tag(lang: Language) -> str:
    """The name of the language for a browser, which chooses voices, glyphs and breaks by it.

    >>> tag("ja"), tag("zh")
    ('ja', 'zh-CN')
    """
    return _TAGS.get(lang, lang)


def negotiate(locale: str | None) -> Language:
    """The language for a browser's locale: its first part if we speak it, else English.

    >>> negotiate("ja-JP"), negotiate("zh_TW"), negotiate("fr"), negotiate(None)
    ('ja', 'zh', 'en', 'en')
    """
    code = (locale or "").replace("_", "-").split("-")[0].strip().lower()
    return code if is_language(code) else DEFAULT


@lru_cache(maxsize=8192)
def placeholders(template: str) -> frozenset[str]:
    """The names of the {placeholders} in a template."""
    return frozenset(name for _, name, _ in _parsed(template) if name is not None)


def is_beta(lang: Language) -> bool:
    """True if some texts of the language may be English still."""
    return lang not in COMPLETE


@cache
def catalogue(lang: Language) -> Mapping[str, str]:
    """Every text of one language, by dotted key; English where a language has none yet.

    A text in beta that has other placeholders than the English one is older, and so is not taken.
    """
    if not is_beta(lang):
        return own(lang)
    english = own(DEFAULT)
    current = {
        key: said
        for key, said in own(lang).items()
        if key in english and placeholders(said) == placeholders(english[key])
    }
    return MappingProxyType({**english, **current})


@cache
def own(lang: Language) -> Mapping[str, str]:
    """The texts that the language's own file has; read once."""
    import tomllib  # a help text on the command line needs no texts and starts at once
    from importlib.resources import files

    source = files(__name__).joinpath(f"{lang}.toml").read_text(encoding="utf-8")
    return MappingProxyType(dict(_flatten(tomllib.loads(source))))


def _flatten(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _flatten(value, f"{key}.")
        elif isinstance(value, str):
            yield key, value
        else:
            raise TypeError(f"{key} is {value!r}; a text file holds texts only")
