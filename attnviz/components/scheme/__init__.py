"""Scheme: a switch between light, dark and what the system says.

In: translated strings. Out: a mounted component; nothing comes back. The choice is the page's: its
host keeps it in the browser and repaints, canvases included. On a host without a choice of its own
nothing is drawn.
"""

from collections.abc import Mapping

from attnviz.components.buffer import pack

NAME = "attnviz.scheme"
STRING_KEYS: tuple[str, ...] = ("scheme.label", "scheme.light", "scheme.dark", "scheme.system")


def pack_scheme(strings: Mapping[str, str]) -> bytes:
    """The buffer of the component."""
    return pack({"strings": dict(strings)}, {})
