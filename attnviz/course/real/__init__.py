"""Lesson 9: what heads of trained models do, beside chance and a control.

`lesson` has the cards, `heads` measures the heads, `copies` has the cards on induction, `effects`
those on what a large weight changes.
"""
