"""What a style sheet of a component may say of sizes: those of the scales in shared/style.css.

In: the text of a style sheet. Out: the declarations that break a rule.
"""

import re

DECLARATION = re.compile(r"(?<![-\w])([a-z-]+)\s*:\s*([^;{}]+);")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SPACED = re.compile(r"(row-|column-)?gap|(margin|padding)(-[a-z-]+)?")
TYPE = re.compile(r"var\(--av-type-[a-z]+\)|inherit|[\d.]+em")
SPACE = re.compile(
    r"0|auto|!important|-?[\d.]+(em|%)|var\(--av-space-\d+\)|calc\(-1 \* var\(--av-space-\d+\)\)"
)
WORD = re.compile(r"calc\([^()]*(?:\([^()]*\)[^()]*)*\)|\S+")


def off_scale(sheet: str) -> list[str]:
    """The font sizes and spacings of a style sheet that are not on the scales."""
    declarations = DECLARATION.findall(COMMENT.sub("", sheet))
    return [f"{name}: {value}" for name, value in declarations if not _is_on_scale(name, value)]


def _is_on_scale(name: str, value: str) -> bool:
    if name == "font":
        return value == "inherit"
    if name == "font-size":
        return TYPE.fullmatch(value) is not None
    if SPACED.fullmatch(name):
        return all(SPACE.fullmatch(word) for word in WORD.findall(value))
    return True
