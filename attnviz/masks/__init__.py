"""Attention masks: True = this query may attend to this key.

`kinds` builds each kind of mask, `spec` names a set of masks and gives it a text form,
`recognition` finds the named masks that a model's own mask consists of, `code` writes a mask as
Python for each of PyTorch's interfaces. The functions of `kinds` are looked up here on first use,
because `spec` is needed where torch must not be loaded.
"""

from attnviz.lazy import names

_HOMES = {
    "attnviz.masks.kinds": (
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
    ),
}

__getattr__, __dir__, __all__ = names(__name__, _HOMES)
