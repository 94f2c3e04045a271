"""Lesson 2: one attention block in eight operations.

`lesson` has all of its cards; the numbers are a textbook's example of four tokens.
"""
