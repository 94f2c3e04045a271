"""The pages Calculator and Geometry, where a reader changes the numbers by hand.

In: the view, and a head of what is shown. Out: a mounted component; what is typed or dragged goes
into the address.
"""
