"""The start page: a film on real numbers, doors to the rest, live miniatures, and where one left.

In: nothing but the language; the film and the miniatures are of the embedded models, whatever the
view shows. Out: the page, and a visitor who goes on: to an own sentence, a page, the last address.
"""
