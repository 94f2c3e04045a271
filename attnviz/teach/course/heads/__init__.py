"""Lesson 5: heads are slices of one layer's output.

`lesson` has the cards, `patterns` those on the patterns of several heads, `mha` takes
`nn.MultiheadAttention` apart.
"""
