"""The calculator: attention on typed matrices, with every step and code to copy.

In: a `Sheet` of small matrices. Out: the same `Steps` that a model's head has, checked against
torch's own kernel, and source text in NumPy and PyTorch that gives the same numbers.
"""
