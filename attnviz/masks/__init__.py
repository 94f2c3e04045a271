"""Attention masks: True = this query may attend to this key.

`kinds` builds each kind of mask, `spec` names a set of masks and gives it a text form,
`recognition` finds the named masks that a model's own mask consists of, `code` writes a mask as
Python for each of PyTorch's interfaces. The functions of `kinds` are looked up here on first use,
because `spec` is needed where torch must not be loaded.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz.masks.kinds import (
        blockers,
        blocks,
        causal,
        combine,
        drawn,
        from_model,
        named,
        padding,
        prefix,
        window,
    )

__all__ = [
    "blockers",
    "blocks",
    "causal",
    "combine",
    "drawn",
    "from_model",
    "named",
    "padding",
    "prefix",
    "window",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'attnviz.masks' has no attribute {name!r}")
    from attnviz.masks import kinds

    return getattr(kinds, name)
