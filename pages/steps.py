"""Compute: how one head gets from its input to its output, in seven stops with their numbers.

Reads the view, runs the model through the cache, derives the steps of the chosen head; a stop's
other face, own numbers, arrows or other masks, stands in the place of the row.
"""

from attnviz.app.page_parts import compute

compute.show()
