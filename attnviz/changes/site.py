"""Where a change is made: one head, or every head of a layer.

In: a `Site`, a `HeadId`, (layer, head), or text: "L2.H1", "L2" for every head of layer 2,
"cross.L1.H0" where a stack has cross-attention too, "encoder.L0.H3" where a model has several
stacks. Out: a `Site`. Which sites a model has is known once it ran; what is no site of any model is
refused here.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import index

from attnviz.errors import BadInput, bad_argument
from attnviz.summary import shortened
from attnviz.types import STACKS, HeadId, Site, Where


def site(head: Where) -> Site:
    """The site that a caller means; `BadInput` for what names none.

    >>> str(site("decoder.cross.L1.H2")), str(site((1, 2)))
    ('decoder.cross.L1.H2', 'L1.H2')
    """
    if isinstance(head, Site):
        return head
    if isinstance(head, HeadId):
        return Site(head.layer, head.head)
    if isinstance(head, tuple) and len(head) == 2:
        return Site(_number(head, head[0]), _number(head, head[1]))
    named = Site.parse(head) if isinstance(head, str) else None
    if named is None:
        raise _no_head(head)
    return named


def place_among(head: Where, sites: Sequence[Site], refused: str) -> int:
    """The place of the head that a caller means among some, as its model finds it.

    Without a stack it is one outside all stacks, else that of the only stack that has it. Raises
    `BadInput` where it is not there, `refused` in front of the heads that are.
    """
    wanted = site(head)
    if wanted in sites:
        return sites.index(wanted)
    alike = [at for at, known in enumerate(sites) if replace(known, stack=wanted.stack) == wanted]
    if wanted.stack is not None or len({sites[at] for at in alike}) != 1:
        known = ", ".join(map(str, sites))
        raise bad_argument(
            f"{wanted} {refused} {known}", name="head", found=str(wanted), allowed=known
        )
    return alike[0]


def _number(head: object, part: object) -> int:
    """A layer's or a head's number."""
    try:
        number = index(part)  # type: ignore[arg-type]  # what is no number raises
    except TypeError:
        number = -1
    if number < 0 or isinstance(part, bool):
        raise _no_head(head)
    return number


def _no_head(head: object) -> BadInput:
    return bad_argument(
        f"{shortened(repr(head))} names no head: write L2.H1 or (2, 1) for head 1 of layer 2, L2"
        f" for all of its heads, cross.L2.H1 for cross-attention, and one of {', '.join(STACKS)} in"
        " front where the model has several stacks",
        name="head",
        found=shortened(str(head)),
        allowed="L2.H1, (2, 1), L2, cross.L2.H1, decoder.L2.H1",
    )
