"""Circuit: which head moves which later head, as a graph; click a path to cut it.

Reads the view, runs the model through the cache, measures every path, cuts a circuit out, offers
files, says what was verified.
"""

from attnviz.app.frame import capture_of_view, frame, frame_line, take
from attnviz.app.page_parts import circuit, cut_out
from attnviz.app.session import current


def main() -> None:
    """Draw the page."""
    lang = current.language()
    shown = capture_of_view.shown(lang)
    if shown is not None:
        circuit.graph(shown)
        circuit.example(lang)
        if not frame_line.ends(shown):
            cut_out.show(shown)
            frame.verification(shown)
            take.offer(shown, "circuit")


main()
