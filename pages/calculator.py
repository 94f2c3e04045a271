"""Calculator: attention on typed matrices, every step with its numbers, and code to copy.

Reads the sheet from the view, shows its inputs, derives its steps, gives them as programs and as
a picture.
"""

from attnviz.app.frame import frame
from attnviz.app.page_parts import calculator


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("calculator")
    calculator.show(lang)


main()
