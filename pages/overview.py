"""Overview: all heads of the model on one text, each a small heatmap; a click opens one.

Reads the view, runs the model through the cache, shows the grid, says what was checked.
"""

from attnviz.ui.page import fragments, frame
from attnviz.ui.sidebar import sidebar
from attnviz.views.captured import Shown


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("overview")
    captured = frame.captured(lang)
    if captured is not None:
        group = sidebar.attention(lang, captured)
        fragments.written(Shown(lang, captured, group))
        fragments.grid(Shown(lang, captured, group))
        frame.verification(lang, captured)


main()
