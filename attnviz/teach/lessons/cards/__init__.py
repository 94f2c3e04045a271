"""Cards: one screen of a lesson each, with its pictures, its question and its texts.

`card` has the dataclasses, `texts` reads the sentences in each language, `versions` gives a card as
one page shows it, `grade` judges answers, `progress` keeps them in the address, `times` counts the
minutes of a lesson.
"""
