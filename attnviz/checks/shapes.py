"""The claims of `shapes`: it names the largest thing of a picture, and [CLS] attends to it.

In: the loaded model. Out: how often form and colour are right on scenes of two to five things,
from seeds that training never used, and the head whose [CLS] attends most to the thing asked for.
Its measure: the fraction of [CLS]'s weight on patches, each patch counted as far as the thing
covers it, over the fraction of the picture that the thing covers; 1 means no preference. Large
things lie in the middle, and so does a head's habit: the second baseline is the weight that the
same rows give to the places of the other scenes' things. The head is chosen on other scenes than it
is measured on.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64

from attnviz.attention.capture import Capture
from attnviz.capture.run import capture
from attnviz.checks.cards import Description, Figure, HeadNote
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import HeadId
from attnviz.worlds.forms import COLOURS
from attnviz.worlds.shapes import LABELS, Scene, sample

CASES, CHOOSING = range(8_000_000, 8_001_000), range(8_100_000, 8_100_030)
N_CAPTURED, BATCH = 200, 100


@dataclass(frozen=True)
class ThingHead:
    """The head whose [CLS] attends most to the thing asked for, with mean fractions.

    `own` of its weight lies on the thing, `elsewhere` on the places of the other scenes' things;
    the thing covers `area` of the picture.
    """

    head_id: HeadId
    own: float
    elsewhere: float
    area: float


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    """Forms and colours named right, and how much the best head prefers the thing asked for."""
    scenes = [sample(seed) for seed in CASES]
    named, truth = answers(lm, scenes), np.array([scene.label_id for scene in scenes])
    n_colours, n = len(COLOURS), len(scenes)
    head = thing_head(lm)
    weight, over_habit = "[CLS] weight on the thing over", head.own / head.elsewhere
    return (
        Figure(
            "forms named right", _fraction(named // n_colours == truth // n_colours), 0.97, cases=n
        ),
        Figure(
            "colours named right", _fraction(named % n_colours == truth % n_colours), 0.97, cases=n
        ),
        Figure("form and colour both right", _fraction(named == truth), 0.95, cases=n),
        Figure(f"{weight} its area, {head.head_id}", head.own / head.area, 2.0, cases=N_CAPTURED),
        Figure(
            f"{weight} that on other pictures' things, {head.head_id}",
            over_habit,
            1.5,
            cases=N_CAPTURED,
        ),
    )


def describe(lm: LoadedModel) -> Description:
    """The rest of the card."""
    head = thing_head(lm)
    return Description(
        what="a vision transformer that names the largest thing of a picture: its form and colour",
        data=(
            "generated pictures of one to five forms (attnviz.worlds.shapes); no outside pictures;"
            " while it trained, each patch was also asked which form it belongs to"
        ),
        languages=("en",),
        heads=(
            HeadNote(
                str(head.head_id),
                "[CLS] rests on the largest thing; chance is the thing's share of the picture,"
                f" the places of other pictures' things get {head.elsewhere:.3f}",
                round(head.own, 3),
                round(head.area, 3),
            ),
        ),
        limits=(
            f"knows {len(LABELS)} answers, six forms in six colours, and says one of them of any"
            " picture; photographs mean nothing to it"
        ),
        samples=tuple(sample(seed).label for seed in range(6)),
    )


def answers(lm: LoadedModel, scenes: list[Scene]) -> Int64[np.ndarray, "scene"]:
    """The number of the label that the model gives each scene."""
    batches = [
        capture_scenes(lm, scenes[start : start + BATCH]).logits
        for start in range(0, len(scenes), BATCH)
    ]
    logits = torch.cat([batch for batch in batches if batch is not None])
    return np.asarray(logits.argmax(-1).cpu(), dtype=np.int64)


def capture_scenes(lm: LoadedModel, scenes: list[Scene]) -> Capture:
    """One capture of several scenes."""
    return capture(lm, image=[scene.picture() for scene in scenes])


def thing_head(lm: LoadedModel) -> ThingHead:
    """The head whose [CLS] attends most to the thing asked for, beside both baselines."""
    scenes = [sample(seed) for seed in CHOOSING]
    captured = capture_scenes(lm, scenes)
    mass = [mass_on(scene, captured.all_weights(batch=row)) for row, scene in enumerate(scenes)]
    mean = np.mean(mass, axis=0)
    layer, number = np.unravel_index(int(mean.argmax()), mean.shape)
    head = HeadId(int(layer), int(number))
    scenes = [sample(seed) for seed in CASES[:N_CAPTURED]]
    captured = capture_scenes(lm, scenes)
    weights = [captured.weights(head.layer, head.head, batch=row) for row in range(len(scenes))]
    own, elsewhere = mass_on_things(scenes, weights)
    area = float(np.mean([scene.cover().mean() for scene in scenes]))
    return ThingHead(head, own, elsewhere, area)


def mass_on_things(
    scenes: list[Scene], weights: list[Float32[np.ndarray, "query key"]]
) -> tuple[float, float]:
    """The mean fraction of [CLS]'s weight on the scene's own thing, and on those of the others."""
    covers = [scene.cover() for scene in scenes]
    mass = np.array([[float(_mass(cover, rows)) for cover in covers] for rows in weights])
    own = np.diag(mass)
    others = (mass.sum(axis=1) - own) / (len(scenes) - 1)
    return float(own.mean()), float(others.mean())


def mass_on(
    scene: Scene, weights: Float32[np.ndarray, "*heads query key"]
) -> Float64[np.ndarray, "*heads"]:
    """The fraction of [CLS]'s weight on patches that lies on the thing asked for."""
    return _mass(scene.cover(), weights)


def _mass(
    cover: Float32[np.ndarray, "row column"], weights: Float32[np.ndarray, "*heads query key"]
) -> Float64[np.ndarray, "*heads"]:
    """The fraction of [CLS]'s weight on patches that lies on what covers them, 0 to 1 each."""
    flat = cover.ravel().astype(np.float64)
    from_cls = weights[..., 0, -len(flat) :].astype(np.float64)
    return np.asarray((from_cls * flat).sum(-1) / from_cls.sum(-1))


def _fraction(is_true: np.ndarray) -> float:
    return float(is_true.mean())
