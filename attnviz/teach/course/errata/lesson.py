"""Lesson 13, debugging a text: errata of a lecture note's program and of a course text's example.

Each text is named by what it prints; every number is computed again.
"""

from attnviz.teach.course.errata.printed_program import axis, digits, divisor, repair
from attnviz.teach.course.errata.worked_example import erratum
from attnviz.teach.course.recipe import Lesson, Recipe
from attnviz.teach.lessons.cards.card import Pick

LESSON = Lesson(
    "errata",
    needs=("block",),
    recipes=(
        Recipe("axis", axis),
        Recipe("divisor", divisor),
        Recipe(
            "repair",
            repair,
            (Pick("sums", ("columns", "rows"), "columns"), Pick("by", ("whole", "root"), "root")),
            "experiment",
        ),
        Recipe("digits", digits),
        Recipe("erratum", erratum),
    ),
)
