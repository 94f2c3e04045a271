"""Where a change is made: one head, or every head of a layer.

In: a `Site`, a `HeadId`, or text: "L2.H1", "L2" for every head of layer 2, "cross.L1.H0" where a
stack has cross-attention too, "encoder.L0.H3" where a model has several stacks. Out: a `Site`.
Which sites a model has is known once it ran; what is no site of any model is refused here.
"""

import re
from dataclasses import dataclass
from typing import cast, get_args

from attnviz.errors import bad_argument
from attnviz.summary import shortened
from attnviz.types import HeadId, Kind, Stack

STACKS: tuple[Stack, ...] = get_args(Stack)
PLACE = re.compile(
    rf"(?:(?P<stack>{'|'.join(STACKS)})\.)?(?P<cross>cross\.)?L(?P<layer>[0-9]{{1,4}})"
    r"(?:\.H(?P<head>[0-9]{1,4}))?"
)


@dataclass(frozen=True)
class Site:
    """A head of the self- or cross-attention of a stack; `head` None means all of the layer.

    `stack` None is the only stack there is, or the only one with such an attention.
    """

    layer: int
    head: int | None = None
    kind: Kind = "self"
    stack: Stack | None = None

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


def site(where: object) -> Site:
    """The site that a caller means; `BadInput` for what names none.

    >>> str(site("decoder.cross.L1.H2"))
    'decoder.cross.L1.H2'
    """
    if isinstance(where, Site):
        return where
    if isinstance(where, HeadId):
        return Site(where.layer, where.head)
    match = PLACE.fullmatch(where) if isinstance(where, str) else None
    if match is None:
        raise bad_argument(
            f"{where!r} names no head: write L2.H1 for head 1 of layer 2, L2 for all of its heads,"
            f" cross.L2.H1 for cross-attention, and one of {', '.join(STACKS)} in front where the"
            " model has several stacks",
            name="head",
            found=shortened(str(where)),
            allowed="L2.H1, L2, cross.L2.H1, decoder.L2.H1",
        )
    head = match["head"]
    return Site(
        layer=int(match["layer"]),
        head=None if head is None else int(head),
        kind="cross" if match["cross"] else "self",
        stack=cast(Stack | None, match["stack"]),
    )
