"""Lesson 8: a picture is a sentence of patches.

`lesson` has the cards on the arithmetic, `attention` those on the attention of [CLS].
"""
