"""Train the circuit of the lesson `birth` from many seeds: `python -m scripts.measure_births`.

Out: attnviz/teach/course/births.json, one row for each seed: the steps at which the best induction
score and the best previous-token score first reach one half (null: not within the training), the
last scores, those on the control, and those without each head of layer 0. What the lesson's cards
say about "all trainings" is computed from these rows. A training takes about half a minute
on one core.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from attnviz.teach.course import toy_model
from attnviz.teach.course.toy_model import CircuitScores, TrainingSnapshot

SEEDS = range(12)
HALF = 0.5
FILE = Path(toy_model.__file__).with_name("births.json")


def main() -> None:
    rows = []
    for seed in SEEDS:
        rows.append(of_seed(seed))
        FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def of_seed(seed: int) -> dict[str, float | int | None]:
    """The row of one training."""
    snapshots = list(toy_model.train(seed))
    last = snapshots[-1]
    effects = toy_model.effects(toy_model.restore(last))
    needed = last.repeated.previous_head
    without = [effect for effect in effects.without if effect.head == needed]
    others = [effect for effect in effects.without if effect.head != needed]
    return {
        "seed": seed,
        "induction_step": _first(snapshots, lambda scores: scores.best_induction),
        "previous_step": _first(snapshots, lambda scores: scores.best_previous),
        "induction": round(last.repeated.best_induction, 4),
        "control": round(last.fresh.best_induction, 4),
        "without_previous": round(max(_induction(e.after) for e in without), 4),
        "without_other": round(min(_induction(e.after) for e in others), 4),
        "accuracy": round(last.repeated.accuracy, 4),
        "accuracy_without_previous": round(max(e.after.accuracy for e in without), 4),
        "accuracy_without_other": round(min(e.after.accuracy for e in others), 4),
    }


def _induction(scores: CircuitScores) -> float:
    return scores.best_induction


def _first(
    snapshots: Sequence[TrainingSnapshot], score: Callable[[CircuitScores], float]
) -> int | None:
    """The first measured step at which a score is above one half."""
    return next((shot.step for shot in snapshots if score(shot.repeated) > HALF), None)


if __name__ == "__main__":
    main()
