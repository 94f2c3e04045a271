"""Switches: every head as a switch; switch heads off and see the model's answer change.

Reads the view, runs the model through the cache, shows the board with the answer, and says what was
verified.
"""

from attnviz.app.frame import capture_of_view, frame, frame_line, take
from attnviz.app.page_parts import switches
from attnviz.app.page_parts.learn import project
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        switches.board(shown, project.offer)
        if not frame_line.ends(shown):
            frame.verification(shown, all_on=False)
            take.offer(shown, "switches")


main()
