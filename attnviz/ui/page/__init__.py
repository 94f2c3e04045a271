"""What is drawn on a page: its frame, the capture of the view, the fragments around each component.

In: the current view. Out: a page. Fragments run alone when a component sends something back.
"""
