"""The page Compare: its widgets, its right side, and both sides paired token by token.

In: what is shown on the left, and the view. Out: the page with the component `pair`.
"""
