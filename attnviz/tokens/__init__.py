"""Tokens for readers: `labels` makes a token readable, `words` joins tokens, `merge` their weights.

In: `types.Tokens` and attention weights. Out: labels, words as ranges of tokens, and weights
between words. numpy only.
"""
