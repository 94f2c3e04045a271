"""Compare: two texts, models, layers or heads side by side, and how they differ.

Reads the view, runs both sides through the cache, shows them with their difference, and says what
was verified.
"""

from attnviz.ui.page import capture_of_view, frame
from attnviz.ui.page.compare import page


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("compare")
    shown = capture_of_view.shown(lang)
    if shown is not None:
        page.show(shown)


main()
