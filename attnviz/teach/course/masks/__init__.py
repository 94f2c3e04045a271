"""Lesson 4: masks, padding and rows without a key.

`lesson` has the cards on one sentence, `batch` those on padded batches.
"""
