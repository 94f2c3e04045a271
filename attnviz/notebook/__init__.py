"""A capture in a notebook: a frame with the page, or a widget that the kernel answers.

In: a capture. Out: an object that notebooks display. `show` makes it; `frame` is the page with a
still picture under it, `widget` the same page joined to Python both ways.
"""
