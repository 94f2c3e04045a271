"""Lesson 1: queries ask, keys answer, values speak.

`lesson` has the cards on small matrices, `printed_example` those on a published example, `real` the
one on a MiniLM head.
"""
