"""Calculator: attention on matrices of your own, every step with its numbers, and code to copy.

Reads the sheet from the view, shows its inputs, derives its steps, gives them as programs.
"""

from attnviz.ui.page import calculator, frame


def main() -> None:
    """Draw the page."""
    lang = frame.open_page("calculator")
    calculator.show(lang)


main()
