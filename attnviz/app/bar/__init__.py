"""The bar that all pages share: the rooms, what the model reads, sharing, language and theme.

In: the current view. Out: links and menus that show it and change it.
"""
