"""Lesson 9: heads of trained models, beside chance and a control.

`lesson` has the cards, `heads` measures the heads, `copies` has the cards on induction and on what
one text shows of it (lesson `claims`).
"""
