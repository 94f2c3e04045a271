"""Lesson 0, where attention lives: text → tokens → vectors → blocks → next word, on `stories`.

`lesson` has the recipes of its cards, `script` cuts a text in two ways, `story` is the pass of the
model, one vector after another.
"""

from attnviz.teach.course.where.lesson import LESSON

__all__ = ["LESSON"]
