"""Lesson 12, masks in code: numbers in place of −∞, rows without a key, the meaning of True.

Sources: the interfaces themselves, run as installed (torch, transformers).
"""

from attnviz.teach.course.code.interfaces import fates, polarity, translate, translation
from attnviz.teach.course.code.numbers import FILLS, infinity, overflow
from attnviz.teach.course.recipe import Lesson, Recipe
from attnviz.teach.lessons.cards.card import Pick

LESSON = Lesson(
    "code",
    needs=("masks",),
    recipes=(
        Recipe(
            "infinity",
            infinity,
            (
                Pick("fill", FILLS, "ten"),
                Pick("precision", ("float32", "float16"), "float32"),
            ),
            "experiment",
        ),
        Recipe("overflow", overflow),
        Recipe("fates", fates),
        Recipe("polarity", polarity),
        Recipe("translate", translate, translation()),
    ),
)
