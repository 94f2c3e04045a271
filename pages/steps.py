"""Steps: how one head gets from its input to its output, every matrix with its numbers.

Reads the view, runs the model through the cache, derives the steps of the chosen head, says what
was checked.
"""

from attnviz.ui.page import fragments, frame
from attnviz.ui.sidebar import sidebar
from attnviz.views.captured import Shown


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("steps")
    captured = frame.captured(lang)
    if captured is not None:
        group = sidebar.attention(lang, captured)
        fragments.written(Shown(lang, captured, group))
        fragments.steps(Shown(lang, captured, group))
        frame.verification(lang, captured)


main()
