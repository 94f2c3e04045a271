"""The app in a pseudo-language: every English text with accents, 40 % longer, between brackets.

    python -m tests.support.pseudo run app.py --server.port=8599

It takes the place of English in this process alone. A word without an accent on a page was written
by no catalogue; a bracket that is not seen was cut off. Sentences for models, names of languages,
code, formulas and placeholders stay as they are.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from attnviz import i18n
from attnviz.i18n import DEFAULT, Language

if TYPE_CHECKING:
    from attnviz.teach.lessons.cards.texts import LessonTexts

ACCENTS = str.maketrans("aceinosuyAEINOU", "áçëîñöšûýÀÈÎÑÖÛ")
LONGER = 0.4
PLAIN = ("language.", "joint.", "example.")
KEPT = re.compile(
    r"(```.*?```|`[^`]*`|\[\[[^\]]*\]\]|\$[^$]*\$|\]\([^)]*\)|<[^>]*>|https?://\S+"
    r"|\{\w+\}|\{\w+:|\b\w*[_^0-9]\w*\b)",
    re.DOTALL,
)
MARK = re.compile(r"^(\s*(?:[-*>] |\d+\. |#+ )?)")


def pseudo(template: str) -> str:
    """A text in the pseudo-language.

    >>> pseudo("{n} {n:token|tokens} of `W_Q`")
    '⟦{n} {n:tökëñ|tökëñš} öf `W_Q` ëëë ëëë⟧'
    """
    return "\n".join(map(_line, accented(template).split("\n")))


def accented(template: str) -> str:
    """A text with accents only."""
    parts = KEPT.split(template)
    parts[::2] = (part.translate(ACCENTS) for part in parts[::2])
    return "".join(parts)


def _line(line: str) -> str:
    mark = MARK.match(line)
    assert mark is not None, line
    said = line[mark.end() :]
    if not said or said.startswith(("|", "```", "$$")):
        return line
    length = round(LONGER * len(re.sub(r"\{[^{}]*\}", "", said)))
    words = " ëëë" * (length // 4)
    return f"{mark[1]}⟦{said}{words}⟧"


def speak() -> None:
    """Put the pseudo-language in the place of English."""
    from attnviz.teach.lessons.cards import glossary, texts

    of_interface, of_lessons, of_glossary = i18n.own, texts.own_texts, glossary.own

    def interface(lang: Language) -> Mapping[str, str]:
        found = of_interface(lang)
        if lang != DEFAULT:
            return found
        return MappingProxyType(
            {key: said if key.startswith(PLAIN) else pseudo(said) for key, said in found.items()}
        )

    def lessons(slug: str, lang: Language) -> "LessonTexts | None":
        found = of_lessons(slug, lang)
        if found is None or lang != DEFAULT:
            return found
        front = {name: pseudo(getattr(found, name)) for name in texts.FRONT_MATTER}
        cards = {
            card: {key: pseudo(said) for key, said in keys.items()}
            for card, keys in found.cards.items()
        }
        return replace(found, **front, cards=cards)

    def terms(lang: Language) -> Mapping[str, Mapping[str, str]]:
        found = of_glossary(lang)
        if lang != DEFAULT:
            return found
        return {
            name: {**entry, "term": accented(entry["term"]), "meaning": pseudo(entry["meaning"])}
            for name, entry in found.items()
        }

    i18n.own, texts.own_texts, glossary.own = interface, lessons, terms  # type: ignore[assignment]


if __name__ == "__main__":
    from streamlit.web.cli import main

    speak()
    sys.argv[0] = "streamlit"
    main()
