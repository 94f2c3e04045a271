"""Compare: two texts, models, layers or heads side by side, and how they differ.

Reads the view, runs both sides through the cache, shows them with their difference, says what was
checked.
"""

from attnviz.ui.page import capture_of_view, frame
from attnviz.ui.page.compare import page


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("compare")
    captured = capture_of_view.captured(lang)
    if captured is not None:
        page.show(lang, captured)


main()
