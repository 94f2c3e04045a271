"""Overview: all heads of the model on one text, each a small heatmap; a click opens one.

Reads the view, runs the model through the cache, shows the grid, says what was checked.
"""

from attnviz.ui import controls, frame, views


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("overview")
    captured = frame.captured(lang)
    if captured is not None:
        group = controls.attention(lang, captured)
        views.written(lang, captured, group)
        views.grid(lang, captured, group)
        frame.verification(lang, captured)


main()
