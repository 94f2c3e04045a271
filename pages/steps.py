"""Steps: how one head gets from its input to its output, every matrix with its numbers.

Reads the view, runs the model through the cache, derives the steps of the chosen head, says what
was checked.
"""

from attnviz.ui import controls, frame, views


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("steps")
    captured = frame.captured(lang)
    if captured is not None:
        group = controls.attention(lang, captured)
        views.written(lang, captured, group)
        views.steps(lang, captured, group)
        frame.verification(lang, captured)


main()
