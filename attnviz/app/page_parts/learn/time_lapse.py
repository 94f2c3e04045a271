"""The training of lesson "A circuit is born" in time-lapse: two heads and their scores.

In: a finished training, and letters. Out: a moving picture whose weights each kept model computes.
"""

from typing import TYPE_CHECKING

import numpy as np

from attnviz.app.host.draw import draw
from attnviz.app.server.trainings import Training
from attnviz.app.session import widgets
from attnviz.i18n import Language, text
from attnviz.pictures import motion as motions
from attnviz.pictures.motion import MotionView
from attnviz.pictures.motion.scenes import Motion

if TYPE_CHECKING:
    from jaxtyping import Int64
    from torch import Tensor

CURVES = ("induction", "previous", "accuracy", "control")


def show_time_lapse(lang: Language, training: Training, tokens: "Int64[Tensor, 'token']") -> None:
    """The film of a training on these letters."""
    draw(
        motions.CANVAS,
        lambda: _film_view(lang, training, tokens),
        widgets.component_key("birth.time_lapse"),
        lang,
        kept=f"time-lapse {training.seed} {len(training.snapshots)} {tokens.tolist()}",
    )


def _film_view(lang: Language, training: Training, tokens: "Int64[Tensor, 'token']") -> MotionView:
    from attnviz.teach.course import toy_model

    last = training.snapshots[-1].repeated
    heads = (last.previous_head, last.induction_head)
    labels = {
        "letters": toy_model.labels(tokens),
        "heads": tuple(map(str, heads)),
        "curves": tuple(text(lang, f"birth.{name}") for name in CURVES),
        "step": (text(lang, "birth.step"),),
    }
    captions = {"training": text(lang, "birth.time_lapse")}
    return MotionView(_film(training, tokens), captions["training"], captions, labels)


def _film(training: Training, tokens: "Int64[Tensor, 'token']") -> Motion:
    """The weights of both heads in each kept model, below each other, and the curves."""
    from attnviz.teach.course import toy_model

    snapshots = training.snapshots
    last = snapshots[-1].repeated
    weights = [toy_model.attention(toy_model.restore(snapshot), tokens) for snapshot in snapshots]
    curves = (
        [snapshot.repeated.best_induction for snapshot in snapshots],
        [snapshot.repeated.best_previous for snapshot in snapshots],
        [snapshot.repeated.accuracy for snapshot in snapshots],
        [snapshot.fresh.best_induction for snapshot in snapshots],
    )
    arrays = {
        name: np.concatenate([of_all[head.layer, head.head] for of_all in weights]).astype(float)
        for name, head in (("previous", last.previous_head), ("induction", last.induction_head))
    }
    arrays |= {
        "curves": np.array(curves, dtype=np.float64),
        "steps": np.array([[snapshot.step for snapshot in snapshots]], dtype=np.float64),
    }
    return Motion("training", arrays)
