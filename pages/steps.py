"""Steps: how one head gets from its input to its output, every matrix with its numbers.

Reads the view, runs the model through the cache, derives the steps of the chosen head, says what
was checked.
"""

from attnviz.ui.page import attention_choice, capture_of_view, fragments, frame


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("steps")
    captured = capture_of_view.captured(lang)
    if captured is not None:
        shown = attention_choice.choice(lang, captured)
        fragments.written(shown)
        fragments.steps(shown)
        frame.verification(lang, captured)


main()
