"""Lesson 0, where attention lives: text → tokens → vectors → blocks → next word, on `stories`."""

from attnviz.course.where.lesson import LESSON

__all__ = ["LESSON"]
