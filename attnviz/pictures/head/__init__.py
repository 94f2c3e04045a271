"""Head page: one head as heatmap and lines, all heads at hand without asking the server.

In: a `HeadsView`. Out: a committed `Selection` when pointer or focus left the canvas with another
choice, an `OpenRequest` for the steps of a head. Switching layer, head, scale or focus costs no
message to the server.
"""

from attnviz.pictures.shared.canvas import Canvas
from attnviz.pictures.shared.heads import HeadsView

CANVAS = Canvas("head", (HeadsView,))
