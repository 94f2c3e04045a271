"""Lesson 2: queries ask, keys answer, values speak.

`lesson` has the cards on typed matrices, `printed` those on a printed example, `real` those on a
MiniLM head.
"""
