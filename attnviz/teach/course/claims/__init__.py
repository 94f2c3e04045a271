"""Lesson 10: one text, one sentence, one weight, and how far each of them carries.

`effects` has the cards on the effect of a large weight; those on a single text are in
`real.copies`.
"""
