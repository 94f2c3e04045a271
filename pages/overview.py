"""Overview: all heads of the model on one text, each a small heatmap; a click opens one.

Reads the view, runs the model through the cache, shows the grid, says what was checked.
"""

from attnviz.ui.page import attention_choice, capture_of_view, fragments, frame


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("overview")
    captured = capture_of_view.captured(lang)
    if captured is not None:
        shown = attention_choice.choice(lang, captured)
        fragments.written(shown)
        fragments.grid(shown)
        frame.verification(lang, captured)


main()
