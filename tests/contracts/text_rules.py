"""The rules on texts: which keys the code uses, and what the languages must have in common."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from string import Formatter

KEY = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")
SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]"),
    "ko": re.compile(r"[\uac00-\ud7af]"),
    "zh": re.compile(r"[\u4e00-\u9fff]"),
}


@dataclass
class Used:
    """The literals of some source, and its f-strings as patterns with a group for each hole."""

    literals: set[str] = field(default_factory=set)
    patterns: set[re.Pattern[str]] = field(default_factory=set)

    def add(self, source: str) -> None:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.JoinedStr):
                self._add_pattern(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self.literals.add(node.value)

    def _add_pattern(self, node: ast.JoinedStr) -> None:
        parts = [
            re.escape(part.value) if isinstance(part, ast.Constant) else r"(\w+(?:[.-]\w+)*)"
            for part in node.values
        ]
        fixed = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        if re.fullmatch(r"[A-Za-z0-9_.]*[A-Za-z]{2}[A-Za-z0-9_.]*", fixed):
            self.patterns.add(re.compile("".join(parts)))

    def has(self, key: str, depth: int = 3) -> bool:
        """Whether the key is a literal, or an f-string whose holes can be filled with literals."""
        if key in self.literals:
            return True
        matches = filter(None, (pattern.fullmatch(key) for pattern in self.patterns))
        return depth > 0 and any(
            all(self.has(part, depth - 1) for part in match.groups()) for match in matches
        )


def unused(keys: Iterable[str], used: Used) -> list[str]:
    return sorted(key for key in keys if not used.has(key))


def unknown(keys: Iterable[str], sources: Iterable[tuple[str, str]]) -> list[str]:
    """Literal keys handed to `text(lang, "…")` that no file has."""
    known = set(keys)
    return [
        f"{name}:{call.lineno}: {call.args[1].value}"
        for name, source in sources
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name | ast.Attribute)
        and (call.func.id if isinstance(call.func, ast.Name) else call.func.attr) == "text"
        and len(call.args) > 1
        and isinstance(call.args[1], ast.Constant)
        and call.args[1].value not in known
    ]


def holes(template: str) -> list[str]:
    """The placeholders of a text, each once, in alphabetical order."""
    return sorted({name for _, name, _, _ in Formatter().parse(template) if name is not None})


# nouns that the interface counts
PLURALS = re.compile(
    r"\b1 (?:other |more )?(?:bits|cards|cells|channels|characters|classes|components|decimals|"
    r"entries|heads|keys|layers|letters|logits|masks|members|minutes|others|places|positions|"
    r"products|queries|rows|steps|terms|texts|threads|tokens|weights|windows|words)\b"
)


def wrong_plurals(templates: Mapping[str, str], fill: Callable[[str], str]) -> list[str]:
    """Keys whose text says "1 tokens" when every number in it is 1; `fill` puts the 1s in."""
    return sorted(key for key, template in templates.items() if PLURALS.search(fill(template)))


def lone_plurals(template: str) -> list[str]:
    """Placeholders of a plural whose number the text does not print."""
    parts = [(name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name]
    printed = {name for name, spec in parts if "|" not in spec}
    return sorted({name for name, spec in parts if "|" in spec} - printed)


def differences(reference: Mapping[str, str], other: Mapping[str, str], lang: str) -> list[str]:
    """Keys on one side only, other placeholders, empty texts, and texts left in English."""
    found = [f"{key} is in one file only" for key in sorted(reference.keys() ^ other.keys())]
    for key in sorted(reference.keys() & other.keys()):
        if holes(reference[key]) != holes(other[key]):
            found.append(f"{key}: placeholders {holes(other[key])}, not {holes(reference[key])}")
        if not other[key].strip():
            found.append(f"{key}: empty")
        if _is_sentence(reference[key]) and not _speaks(lang, other[key], reference[key]):
            found.append(f"{key}: no {lang} in {other[key]!r}")
    return found


def _speaks(lang: str, text: str, english: str) -> bool:
    """True if the text has letters of the language, or, where those are English, other words."""
    return bool(SCRIPTS[lang].search(text)) if lang in SCRIPTS else text != english


def _is_sentence(text: str) -> bool:
    """Three plain words or more: not a name, a formula or a symbol."""
    words = re.sub(r"\{[^}]*\}|\*\*|[^\w\s]", " ", text).split()
    return len([word for word in words if word.isalpha() and word.islower()]) >= 3


# --- numbers ------------------------------------------------------------------------------------

FORMAT = re.compile(r"[+,]?\.?\d*[fge%]|,")
# what puts the signs of the language into a text with numbers
LOCAL = ("local", "number", "percent", "Terms")
BY_HAND = re.compile(r"\.to(?:Fixed|Precision|Exponential|LocaleString)\(|NumberFormat\(|%`")
# rounded to a number again, or a coordinate, a size, an attribute that nobody reads
NOT_READ = re.compile(
    r"Number\(|setData\(|\b(?:width|height|left|top|c[xy])\b|transform|widthOf"
    r"|x\.at\(|full >|d: values"
)


def numbers_by_hand(name: str, source: str) -> list[str]:
    """Numbers that an f-string formats and that do not get the signs of the language."""
    found = []
    signed: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = node.func
            called = function.id if isinstance(function, ast.Name) else ""
            if called in LOCAL:
                signed |= {inner for argument in node.args for inner in ast.walk(argument)}
        if isinstance(node, ast.FormattedValue) and node.format_spec and node not in signed:
            parts = node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else []
            spec = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "1" for part in parts
            )
            if FORMAT.fullmatch(spec):
                found.append(f"{name}:{node.lineno}: {spec}")
    return found


def numbers_by_hand_in_script(name: str, script: str) -> list[str]:
    """Lines of a script that write a number for people without the formatter of its language."""
    return [
        f"{name}:{place}: {line.strip()}"
        for place, line in enumerate(script.splitlines(), 1)
        if BY_HAND.search(line) and not NOT_READ.search(line)
    ]
