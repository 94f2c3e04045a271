"""Lessons on paper: a worksheet as HTML, with its answer key.

`worksheet` holds the data and writes the page and its key, `pictures` sets boards and charts,
`markdown` sentences and their formulas, `record` what a class or a learner takes home.
"""
