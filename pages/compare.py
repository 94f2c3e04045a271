"""Compare: two texts, models, layers or heads side by side, and how they differ.

Reads the view, runs both sides through the cache, shows them with their difference, which head
carries it to the answer, and says what was verified.
"""

from attnviz.app.compare import page
from attnviz.app.effects import patching
from attnviz.app.frame import capture_of_view
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        both = page.show(shown)
        if both is not None:
            patching.show(*both)
            page.verification(both)


main()
