"""Lesson 1: queries ask, keys answer, values speak.

`lesson` has the cards on small matrices, `real` the one on a MiniLM head.
"""
