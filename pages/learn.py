"""Learn: lessons of cards, each with a live picture, a question, and its answer.

Reads lesson, card, answers and class from the view, builds the card from the library, draws it.
"""

from attnviz.app.page_parts import classroom, learn
from attnviz.app.page_parts.learn.index import ClassWays


def main() -> None:
    """Draw the page."""
    entry = classroom.entry
    if not classroom.show():
        learn.show(ClassWays(entry.join, entry.teach_plan, entry.handout_of_plan))
        entry.show()


main()
