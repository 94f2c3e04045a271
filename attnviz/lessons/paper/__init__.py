"""Lessons on paper: a worksheet as HTML, with its answer key.

`worksheet` and `answer_key` make the two documents, `sheet` one card, `boards` and `charts` its
pictures, `markdown` its sentences.
"""
