"""Heads found and shown: ranked by a link or by a drawn pattern, and one head of a long text.

In: what is shown and the view. Out: lists whose buttons open a head, and the tiles of a head.
"""
