"""Map: the queries and keys of many texts in one plane, per head, with the visitor's own text.

Reads the view, runs the model through the cache, draws the map, says what was verified. Who leads a
class has its sentences on the map too.
"""

from attnviz.app.frame import capture_of_view, frame, take
from attnviz.app.page_parts.classroom import sentences
from attnviz.app.page_parts.map import show
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    shown = capture_of_view.shown(current.language())
    if shown is not None:
        show(shown, sentences.for_map(shown.lang))
        if frame.ends(shown):
            return
        frame.verification(shown)
        take.offer(shown, "map")


main()
