"""Lesson 7: attention in the encoder, in the decoder, and between them.

`lesson` has the cards, `reading` runs the translator for them, `masks` has the cards on its masks.
"""
