"""From a capture to what a component shows: plain arrays and translated texts.

In: a `PageContext`: a group of a capture's attentions, in a language. Out: the frozen inputs of
components. Nothing here knows Streamlit; the app, files and notebooks draw the same views.
"""
