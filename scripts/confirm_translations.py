"""Keep, beside each translation, which English text it was made from.

    python -m scripts.confirm_translations                 # confirm what was translated anew
    python -m scripts.confirm_translations ja KEY [KEY …]  # confirm as it is: read, and still right
    python -m scripts.confirm_translations ja --all        # all of a language, read whole

In: the texts of the interface, of each card of the lessons and of the glossary. Out: one line for
each text in `tests/contracts/translations.txt`: its key and, for each language, the digests of the
English text and of the translation as they were when somebody confirmed them. A test fails while
the English text is another one. A language in beta has no digests of a text that it does not have.
"""

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from attnviz import i18n
from attnviz.teach.course import SLUGS
from attnviz.teach.lessons.cards import glossary
from attnviz.teach.lessons.cards.texts import own_texts

FILE = Path(__file__).parents[1] / "tests" / "contracts" / "translations.txt"
LANGUAGES = tuple(lang for lang in i18n.LANGUAGES if lang != i18n.DEFAULT)
DIGITS = 6
NOTHING = "-" * DIGITS
# key -> language -> the digests of the English text and of the translation
Confirmed = dict[str, dict[str, tuple[str, str]]]


def texts(lang: i18n.Language) -> dict[str, str]:
    """Every text that a language has: of the interface, of each card as one text, of the glossary.

    A text in beta whose placeholders are older than the English ones is among them.
    """
    found = {f"i18n {key}": said for key, said in i18n.own(lang).items()}
    for slug in SLUGS:
        lesson = own_texts(slug, lang)
        if lesson is None:
            continue
        front = (lesson.title, lesson.summary, lesson.goal, lesson.keep, lesson.discuss)
        found[f"lesson {slug}"] = "\n".join(front)
        for card, keys in lesson.cards.items():
            found[f"lesson {slug}/{card}"] = "\n".join(
                f"{key}: {keys[key]}" for key in sorted(keys)
            )
    for name, entry in glossary.own(lang).items():
        found[f"glossary {name}"] = f"{entry['term']}: {entry['meaning']}"
    return found


def digest(said: str) -> str:
    """A few digits that tell two texts apart."""
    return hashlib.sha256(said.encode()).hexdigest()[:DIGITS]


def read(source: str) -> Confirmed:
    """What a file says was confirmed."""
    confirmed: Confirmed = {}
    for line in source.splitlines():
        key, *pairs = line.rsplit(maxsplit=len(LANGUAGES))
        confirmed[key] = {
            lang: (pair[:DIGITS], pair[DIGITS:])
            for lang, pair in zip(LANGUAGES, pairs, strict=True)
        }
    return confirmed


def written(confirmed: Confirmed) -> str:
    """The file: a line for each text, sorted."""
    lines = [
        " ".join([key, *("".join(of.get(lang, (NOTHING, NOTHING))) for lang in LANGUAGES)])
        for key, of in sorted(confirmed.items())
    ]
    return "\n".join(lines) + "\n"


def confirm(
    confirmed: Confirmed,
    english: Mapping[str, str],
    own: Mapping[str, str],
    lang: str,
    keys: Sequence[str] = (),
) -> None:
    """Confirm the translations of these keys, and of all whose own text is another one too.

    A text that the language does not have any more is confirmed by nobody.
    """
    for key in english.keys() - own.keys():
        confirmed.setdefault(key, {}).pop(lang, None)
    for key in english.keys() & own.keys():
        _, before = confirmed.get(key, {}).get(lang, (NOTHING, NOTHING))
        if key in keys or digest(own[key]) != before:
            confirmed.setdefault(key, {})[lang] = (digest(english[key]), digest(own[key]))


def stale(
    confirmed: Confirmed, english: Mapping[str, str], own: Mapping[str, str], lang: str
) -> list[str]:
    """The keys whose English text is not the one that the translation was confirmed against."""
    return [
        key
        for key, said in english.items()
        if key in own and confirmed.get(key, {}).get(lang, (NOTHING, NOTHING))[0] != digest(said)
    ]


def main() -> None:
    """Confirm as the command line says, drop what is gone, and name what is left to read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lang", nargs="?", choices=LANGUAGES)
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--all", action="store_true")
    asked = parser.parse_args()
    english = texts(i18n.DEFAULT)
    before = read(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    confirmed = {key: of for key, of in before.items() if key in english}
    for lang in LANGUAGES:
        named = (list(english) if asked.all else asked.keys) if lang == asked.lang else []
        confirm(confirmed, english, texts(lang), lang, named)
    FILE.write_text(written(confirmed), encoding="utf-8")
    for lang in LANGUAGES:
        for key in stale(confirmed, english, texts(lang), lang):
            print(f"{lang}: the English text is another one: {key}")


if __name__ == "__main__":
    main()
