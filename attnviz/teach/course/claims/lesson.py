"""Lesson 10, what a heatmap does not say: one text, one sentence, and a weight without effect.

Sources: Olsson et al. 2022 (induction), Kobayashi et al. 2020 (effect of a weight), Jain & Wallace
2019 and Wiegreffe & Pinter 2019 (weights as explanations).
"""

from attnviz.teach.course.claims.effects import EFFECT_CONTROLS, effect, explains, review
from attnviz.teach.course.real.copies import one_sentence, quiet
from attnviz.teach.course.recipe import Lesson, Recipe

LESSON = Lesson(
    "claims",
    needs=("real",),
    recipes=(
        Recipe("quiet", quiet),
        Recipe("one", one_sentence),
        Recipe("effect", effect),
        Recipe("explains", explains),
        Recipe("review", review, EFFECT_CONTROLS, "experiment"),
    ),
)
