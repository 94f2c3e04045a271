"""Lesson 5: heads are slices of one layer's output.

`lesson` has the cards, `looks` those on what several heads look at, `mha` opens up
`nn.MultiheadAttention`.
"""
