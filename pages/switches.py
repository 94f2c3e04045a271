"""Switches: every head as a switch; switch heads off and see the model's answer change.

Reads the view, runs the model through the cache, shows the board with the answer, and says what was
verified.
"""

from attnviz.ui.effects import switchboard
from attnviz.ui.page import capture_of_view, embedded, frame
from attnviz.ui.session import current


def main() -> None:
    """Draw the page."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        switchboard.board(shown)
        if not embedded.ends(shown):
            frame.verification(shown)


main()
