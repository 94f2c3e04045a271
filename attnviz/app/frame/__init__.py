"""The parts of a page: its frame, the capture of the view, the fragments around each component.

In: the current view. Out: what is on a page. A fragment runs alone when its component sends
something back.
"""
