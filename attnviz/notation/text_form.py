"""One text form: entries with a separator between them, within limits, or a refusal.

In: text of any origin, and a function that parses one entry. Out: the entries by their keys, or
`BadInput` that names the part and the reason. Of two entries with one key the later counts.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from attnviz.errors import BadInput

Key = TypeVar("Key")
Value = TypeVar("Value")
Refuse = Callable[[str, str], BadInput]  # (part, reason) → the error
SHOWN_CHARS = 40  # characters of a refused text that an error shows


def refusal(code: str, what: str, part: str, reason: str, example: str) -> BadInput:
    """The error for a text, or a part of one, that is not of its form."""
    shown = shortened(part)
    return BadInput(
        f"{what} {shown!r} cannot be used: {reason}; write it as {example}",
        code=code,
        asked=shown,
    )


def shortened(text: str) -> str:
    """The beginning of a text, as long as an error may show it."""
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"


@dataclass(frozen=True)
class TextForm:
    """The grammar of a text form. `none` is the text for no entries.

    With `allows_gaps`, empty entries are skipped, as in ",q.0.0=1,".
    """

    refuse: Refuse
    separator: str
    max_chars: int
    max_entries: int
    none: str = ""
    allows_gaps: bool = False

    def parse(self, text: str, parse_entry: Callable[[str], tuple[Key, Value]]) -> dict[Key, Value]:
        """The entries of a text by their keys, in the order of their last mention.

        Raises the error of `refuse` for a text over a limit; `parse_entry` raises its own.
        """
        if len(text) > self.max_chars:
            raise self.refuse(text, f"longer than {self.max_chars} characters")
        entries: dict[Key, Value] = {}
        for part in [] if text == self.none else text.split(self.separator):
            if part or not self.allows_gaps:
                key, value = parse_entry(part)
                entries.pop(key, None)
                entries[key] = value
        if len(entries) > self.max_entries:
            raise self.refuse(text, f"more than {self.max_entries} entries")
        return entries

    def write(self, entries: Iterable[str]) -> str:
        """The text of written entries."""
        return self.separator.join(entries) or self.none
