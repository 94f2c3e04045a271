"""Overview grid: every head of a model as a small heatmap, the one under the pointer enlarged.

In: a `HeadsView` with small pictures. Out: a committed `Selection` when pointer or focus left the
canvas with another head chosen, an `OpenRequest` when a head was clicked. Pointing at heads and
moving the cursor cost no message to the server.
"""

from attnviz.pictures.shared.canvas import Canvas
from attnviz.pictures.shared.heads import HeadsView

CANVAS = Canvas("grid", (HeadsView,))
