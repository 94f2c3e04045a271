"""Tokens as people read them: `labels` makes one readable, `words` joins pieces, `merge` weights.

In: `types.Tokens` and attention weights. Out: labels, words as ranges of tokens, and weights
between words. numpy only.
"""
