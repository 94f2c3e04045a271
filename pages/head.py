"""Head: one head in full, as a heatmap and as lines; all heads are at hand without waiting.

Reads the view, runs the model through the cache, shows the head, says what was checked.
"""

from attnviz.ui import controls, frame, views


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("head")
    captured = frame.captured(lang)
    if captured is not None:
        group = controls.attention(lang, captured)
        views.head(lang, captured, group)
        frame.verification(lang, captured)


main()
