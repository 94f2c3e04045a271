"""The sidebar that all pages share: input, model, sampling, language and the links to the pages.

In: the current view. Out: widgets that show it and change it.
"""
