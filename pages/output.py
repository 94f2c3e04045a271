"""Output: what the model itself says of its input, beside the attention that led there.

Reads the view, runs the model through the cache, shows the views that fit the model's output, says
what was checked.
"""

from attnviz.ui import outputs
from attnviz.ui.page import capture_of_view, frame


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("output")
    captured = capture_of_view.captured(lang)
    if captured is not None:
        outputs.show(lang, captured)
        frame.verification(lang, captured)


main()
