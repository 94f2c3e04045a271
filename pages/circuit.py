"""Circuit: which head moves which later head, as a graph; click a path to cut it.

Reads the view, runs the model through the cache, measures every path, says what was verified.
"""

from attnviz.ui.effects import circuit
from attnviz.ui.page import capture_of_view, embedded, frame


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("circuit")
    circuit.example(lang)
    shown = capture_of_view.shown(lang)
    if shown is not None:
        circuit.graph(shown)
        if not embedded.ends(shown):
            frame.verification(shown)


main()
