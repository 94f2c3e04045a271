"""Lesson 3: why scores are divided by √d_k.

`lesson` has the cards, `draws` the random vectors, `temperature` the softmax as scores grow, `real`
the same on a trained head.
"""
