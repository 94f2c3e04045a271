"""Atlas: every head over many texts, as points on two measures; one head with all that it does.

Reads the view, counts the model's texts or opens a survey, draws the heads.
"""

from attnviz.app.frame import capture_of_view, frame, take
from attnviz.app.page_parts import atlas
from attnviz.app.page_parts.learn import project
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        atlas.show(shown, project.offer)
        if frame.ends(shown):
            return
        take.offer(shown, "atlas")


main()
