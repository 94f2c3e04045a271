"""Calculator: attention on typed matrices, every step with its numbers, and code to copy.

Reads the sheet from the view, shows its inputs, derives its steps, gives them as programs.
"""

from attnviz.ui.page import calculator, frame


def main() -> None:
    """Draw the page."""
    calculator.show(frame.open_page("calculator"))


main()
