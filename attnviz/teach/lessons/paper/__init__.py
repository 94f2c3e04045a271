"""Lessons on paper: a worksheet as HTML, with its answer key.

`worksheet` and `answer_key` write the two parts of the page, `sheet` holds their data, `boards` and
`charts` set pictures, `markdown` sentences and their formulas.
"""
