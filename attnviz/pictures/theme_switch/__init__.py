"""Theme switch: a switch between light, dark and what the system says.

Nothing comes back. The choice is the page's: its host keeps it in the browser and repaints,
canvases included. On a host without a choice of its own nothing is drawn.
"""

from dataclasses import dataclass

from attnviz.pictures.shared.canvas import Canvas


@dataclass(frozen=True)
class ThemeSwitchView:
    """The switch, which needs nothing but its texts."""


CANVAS = Canvas("theme_switch", (ThemeSwitchView,))
