"""Lesson 12: masks as programs pass them.

`numbers` has the cards on numbers in place of −∞, `interfaces` those on the conventions of torch
and transformers.
"""
