"""The circuit that training makes: feeds names its path, and cutting that path breaks it.

No head is planted here: which heads they are is read off the scores that the training itself
measures, and `feeds` and `cut_path` must say the same of the trained model.
"""

import numpy as np
import pytest

import attnviz
from attnviz.teach.course import toy_model
from attnviz.teach.course.toy_model import induction_cells


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2, 3))]
)
def test_the_strongest_path_of_a_trained_circuit_is_the_one_that_its_scores_name(seed: int) -> None:
    *_, trained = toy_model.train(seed, steps=400, every=200)
    previous = int(np.argmax(trained.repeated.previous[0]))
    induction = int(np.argmax(trained.repeated.induction[1]))
    lm = attnviz.load(toy_model.restore(trained))
    inputs = {"tokens": toy_model.repeated_letters()[:1]}
    (path,) = attnviz.experiment(lm, inputs=inputs).paths(to="zero").strongest(1)
    assert str(path.sender) == f"L0.H{previous}"
    assert (str(path.receiver), path.side) == (f"L1.H{induction}", "k")
    cut = attnviz.experiment(lm, inputs=inputs).cut(path.sender, path.receiver, "k", to="zero")
    queries, keys, _ = induction_cells(toy_model.MAX_LETTERS)
    before = float(cut.before[queries, keys].mean())
    after = float(cut.after[queries, keys].mean())
    (control,) = cut.weights_by_controls[:, queries, keys].mean(1)
    assert before > 0.85
    assert after < 0.6 * before
    assert control > 0.9 * before  # the other head of the layer
