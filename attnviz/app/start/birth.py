"""The miniature of a circuit that is born: the training of the lesson, as far as it has come.

In: nothing; the training of the first seed, which all visitors share, begins when it is first asked
for. Out: a `Birth`, whose steps grow from call to call until the training is over; None before the
first measurement.
"""

import numpy as np

from attnviz.app.server import trainings
from attnviz.pictures.gallery import Birth

SEED = 0
N_STEPS = 200  # a quarter of the lesson's training: the head copies from the hundredth step on


def newborn() -> Birth | None:
    """The training so far: the attention of the head that copies best at its latest step."""
    training = trainings.training(SEED, n_steps=N_STEPS)
    training.job.raise_error()
    is_over, snapshots = training.job.over, tuple(training.snapshots)
    if not snapshots:
        return None
    from attnviz.teach.course import toy_model

    tokens = toy_model.encode(toy_model.example())
    head = snapshots[-1].repeated.induction_head
    weights = [
        toy_model.attention(toy_model.restore(snapshot), tokens)[head.layer, head.head]
        for snapshot in snapshots
    ]
    scores = [snapshot.repeated.induction[head.layer, head.head] for snapshot in snapshots]
    return Birth(
        str(head),
        toy_model.labels(tokens),
        tuple(snapshot.step for snapshot in snapshots),
        np.array(scores, dtype=np.float32),
        np.stack(weights),
        toy_model.chance(len(tokens)).induction,
        training.n_steps,
        is_over,
    )
