"""Lesson 7: attention in the encoder, in the decoder, and between them.

`lesson` has the cards, `translation` runs the translator, `masks` has the cards on its masks.
"""
