"""One change in its text form, as it stands in an address: where, which stage, and what it becomes.

    L2.H1.mixed=mean    decoder.cross.L1.H2.weights.20.7=0!    L0.H0.q.3.5=0.7
    L2.H1.mask=padding+window:4

In: text of any origin. Out: a `WrittenChange`, of which `attnviz.changes.text` makes a change.
Nothing here needs torch, so that what draws and what reads an address can use it.
"""

import re
from dataclasses import dataclass

from attnviz.errors import BadInput
from attnviz.summary import shortened
from attnviz.types import Site

EVERY = "*"  # all queries, or all keys
EXAMPLES = "L2.H1.mixed=mean, L0.H1.weights=even or L2.H1.weights.20.7=0!"
AFTER_SITE = re.compile(
    r"\.(?P<stage>[a-z]+)(?P<at>(?:\.(?:[0-9]{1,5}|\*)){0,2})=(?P<to>[^,=]{1,2000})"
)


@dataclass(frozen=True)
class WrittenChange:
    """A change as it was written: positions are indices, None for all of them."""

    site: Site
    stage: str
    at: tuple[int | None, ...]
    to: str

    def __str__(self) -> str:
        return f"{self.site}.{self.of_head}"

    @property
    def of_head(self) -> str:
        """The text without the head."""
        at = "".join(f".{EVERY if index is None else index}" for index in self.at)
        return f"{self.stage}{at}={self.to}"


def read_entry(text: str) -> WrittenChange:
    """The entry of a text; raises `BadInput` for other text.

    >>> read_entry("L2.H1.weights.*.7=0")
    WrittenChange(site=Site(2, 1), stage='weights', at=(None, 7), to='0')
    """
    site, rest = Site.parse_start(text)
    match = AFTER_SITE.fullmatch(rest)
    if site is None or match is None:
        raise refused(text, "it is none of the forms")
    at = tuple(None if index == EVERY else int(index) for index in match["at"].split(".")[1:])
    return WrittenChange(site, match["stage"], at, match["to"])


def refused(entry: object, reason: str) -> BadInput:
    """The error for a text that is no change."""
    shown = shortened(str(entry))
    return BadInput(
        f"the change {shown!r} cannot be read: {reason}; write it as {EXAMPLES}, with commas"
        " between several",
        code="bad_change_text",
        asked=shown,
        reason=reason,
    )
