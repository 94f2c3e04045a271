"""The birth of a circuit: a tiny transformer learns to copy letters that it has read before.

    for snapshot in birth.train(seed=0):
        print(snapshot.step, snapshot.repeated.induction.max())
    birth.effects(birth.restore(snapshot))      # the scores without each head of layer 0

`alphabet` makes the tokens, `transformer` the model, `scores` measures it, `training` trains it,
`ablation` ablates its heads; `lesson` has the cards, `by_hand` the same circuit made by hand. After
Olsson et al. 2022, "In-context learning and induction heads"; positions reach queries and keys only
(Press et al. 2021, "Shortformer").
"""

from attnviz.teach.course.birth.ablation import (
    ABLATIONS,
    Ablation,
    AblationScores,
    Effect,
    ablated,
    effects,
)
from attnviz.teach.course.birth.alphabet import LETTERS, MAX_LETTERS, encode, example, labels
from attnviz.teach.course.birth.lesson import LESSON
from attnviz.teach.course.birth.scores import CircuitScores, chance, measure
from attnviz.teach.course.birth.training import (
    STEPS,
    TrainingSnapshot,
    attention,
    require_seed,
    restore,
    train,
)

__all__ = [
    "LESSON",
    "LETTERS",
    "MAX_LETTERS",
    "STEPS",
    "ABLATIONS",
    "Ablation",
    "Effect",
    "AblationScores",
    "CircuitScores",
    "TrainingSnapshot",
    "ablated",
    "attention",
    "chance",
    "effects",
    "encode",
    "example",
    "labels",
    "measure",
    "require_seed",
    "restore",
    "train",
]
