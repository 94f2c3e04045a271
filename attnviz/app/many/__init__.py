"""The pages on many texts: the map of queries and keys, the atlas of heads, and their surveys.

In: what is shown and the view. Out: what the pages Map and Atlas draw, and a line for pages on one
text that says where it lies among many.
"""
