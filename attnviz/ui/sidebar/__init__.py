"""The sidebar that all pages share: text, model, writing, language and the links to the pages.

In: the current view. Out: widgets that show it and change it.
"""
