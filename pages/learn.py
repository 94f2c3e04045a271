"""Learn: lessons of cards, each with a live picture, a question to predict, and its answer.

Reads lesson, card and answers from the view, builds the card from the library, draws it.
"""

from attnviz.ui import learn


def main() -> None:
    """Draw the page."""
    learn.show()


main()
