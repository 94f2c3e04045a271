"""Where a change is made: one head, or every head of a layer.

In: a `Site`, a `HeadId`, (layer, head), or text: "L2.H1", "L2" for every head of layer 2,
"cross.L1.H0" where a stack has cross-attention too, "encoder.L0.H3" where a model has several
stacks. Out: a `Site`. Which sites a model has is known once it ran; what is no site of any model is
refused here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import cast

from attnviz.errors import BadInput, bad_argument
from attnviz.summary import shortened
from attnviz.types import PLACE_NAME, STACKS, Head, HeadId, Kind, Stack


@dataclass(frozen=True)
class Site:
    """A head of the self- or cross-attention of a stack; `head` None means all of the layer.

    `stack` None is the only stack there is, or the only one with such an attention.
    """

    layer: int
    head: int | None = None
    kind: Kind = "self"
    stack: Stack | None = None

    def __repr__(self) -> str:
        """The shortest call that makes it: `Site(2, 1)`, `Site(0, 3, 'cross', 'decoder')`."""
        fields = [self.layer, self.head, self.kind, self.stack]
        for default in (None, "self", None):
            if fields[-1] != default:
                break
            fields.pop()
        return f"Site({', '.join(map(repr, fields))})"

    def __str__(self) -> str:
        stack = "" if self.stack is None else f"{self.stack}."
        cross = "cross." if self.kind == "cross" else ""
        head = "" if self.head is None else f".H{self.head}"
        return f"{stack}{cross}L{self.layer}{head}"

    @property
    def whole_layer(self) -> "Site":
        """The layer that the head is in."""
        return Site(self.layer, None, self.kind, self.stack)

    def with_head(self, head: int) -> "Site":
        """One head of the same layer."""
        return Site(self.layer, head, self.kind, self.stack)


Where = Site | Head  # the ways to name a head, or all heads of a layer


def site(where: Where) -> Site:
    """The site that a caller means; `BadInput` for what names none.

    >>> str(site("decoder.cross.L1.H2")), str(site((1, 2)))
    ('decoder.cross.L1.H2', 'L1.H2')
    """
    if isinstance(where, Site):
        return where
    if isinstance(where, HeadId):
        return Site(where.layer, where.head)
    if isinstance(where, tuple) and len(where) == 2:
        return Site(_number(where, where[0]), _number(where, where[1]))
    match = PLACE_NAME.fullmatch(where) if isinstance(where, str) else None
    if match is None:
        raise _no_head(where)
    head = match["head"]
    return Site(
        layer=int(match["layer"]),
        head=None if head is None else int(head),
        kind="cross" if match["cross"] else "self",
        stack=cast(Stack | None, match["stack"]),
    )


def place_among(where: Where, sites: Sequence[Site], refused: str) -> int:
    """The place of the head that a caller means among some, as its model finds it.

    Without a stack it is one outside all stacks, else that of the only stack that has it. Raises
    `BadInput` where it is not there, `refused` in front of the heads that are.
    """
    wanted = site(where)
    alike = [
        known for known in sites if wanted.stack is None and replace(known, stack=None) == wanted
    ]
    meant = wanted if wanted in sites else next(iter(alike), None)
    if meant is None or (meant != wanted and len(set(alike)) > 1):
        known = ", ".join(map(str, sites))
        raise bad_argument(
            f"{wanted} {refused} {known}", name="head", found=str(wanted), allowed=known
        )
    return sites.index(meant)


def _number(where: object, part: object) -> int:
    """A layer's or a head's number."""
    try:
        number = index(part)  # type: ignore[arg-type]  # what is no number raises
    except TypeError:
        number = -1
    if number < 0 or isinstance(part, bool):
        raise _no_head(where)
    return number


def _no_head(where: object) -> BadInput:
    return bad_argument(
        f"{shortened(repr(where))} names no head: write L2.H1 or (2, 1) for head 1 of layer 2, L2"
        f" for all of its heads, cross.L2.H1 for cross-attention, and one of {', '.join(STACKS)} in"
        " front where the model has several stacks",
        name="head",
        found=shortened(str(where)),
        allowed="L2.H1, (2, 1), L2, cross.L2.H1, decoder.L2.H1",
    )
