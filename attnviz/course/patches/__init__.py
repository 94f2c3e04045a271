"""Lesson 8: a picture is a sentence of patches.

`lesson` has the cards on the arithmetic, `looks` those on where [CLS] looks.
"""
