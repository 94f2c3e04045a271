"""Compare: two texts, models, layers or heads side by side, and how they differ.

Reads the view, runs both sides through the cache, shows them with their difference, which head
carries it to the answer, and says what was verified.
"""

from attnviz.app.frame import capture_of_view
from attnviz.app.page_parts import compare, patching
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        both = compare.show(shown)
        if both is not None:
            patching.show(*both)
            compare.verification(both)


main()
