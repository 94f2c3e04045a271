"""Learn: lessons of cards, each with a live picture, a question, and its answer.

Reads lesson, card, answers and class from the view, builds the card from the library, draws it.
"""

from attnviz.app.page_parts import classroom, learn
from attnviz.app.page_parts.learn.index import ClassWays


def main() -> None:
    """Draw the page."""
    if not classroom.show():
        learn.show(ClassWays(classroom.entry.join, classroom.entry.teach_plan))
        classroom.entry.show()


main()
