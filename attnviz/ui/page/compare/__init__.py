"""The page Compare: its widgets, its right side, and both sides paired token by token.

In: the left capture and the view. Out: the page with the component `pair`.
"""
