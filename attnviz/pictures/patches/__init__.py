"""Patches: a picture with the attention from any of its patches laid over it, beside all heads.

In: a `HeadsView` with its picture. Out: a committed `Selection` when pointer or focus left the
canvas with another choice, an `OpenRequest` for a head's other pages. Pointing at patches and heads
costs no message to the server.
"""

from attnviz.pictures.shared.canvas import Canvas
from attnviz.pictures.shared.heads import HeadsView

CANVAS = Canvas("patches", (HeadsView,))
