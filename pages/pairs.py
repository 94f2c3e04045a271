"""Pairs: one question asked of many pairs of texts, its mean with an interval, and each pair's dot.

Reads the view, takes the pairs that fit the model or those that were pasted, measures them beside
the page, draws the rows.
"""

from attnviz.app.frame import capture_of_view, frame, take
from attnviz.app.page_parts import pairs
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        pairs.show(shown)
        if not frame.ends(shown):
            take.offer(shown, "pairs")


main()
