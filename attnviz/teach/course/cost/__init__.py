"""Lesson 14: the cost of a long context, and four ways to pay less.

`lesson` has all of its cards.
"""
