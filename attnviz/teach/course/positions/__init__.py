"""Lesson 6: attention without positions, and three ways to add them.

`lesson` has the cards, `encodings` the tables, `word_order` the cards on permuted tokens, `rotary`
those on rotary embeddings.
"""
