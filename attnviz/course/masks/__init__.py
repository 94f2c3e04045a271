"""Lesson 4: masks, padding and rows without a key.

`lesson` has the cards on one sentence, `batch` those on padded batches, `numbers` those on numbers
in place of −∞, `code` those on the conventions of each interface.
"""
