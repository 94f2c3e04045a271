"""What `shapes` claims: it names the largest thing of a picture, and [CLS] looks there.

In: the loaded model. Out: how often form and colour are right on scenes of two to five things,
from seeds that training never used, and the head whose [CLS] rests most on the thing asked for.
Its measure: the share of [CLS]'s weight on patches, each patch counted as far as the thing covers
it, over the share of the picture that the thing covers; 1 means no preference. Large things lie in
the middle, and so does a head's habit: the second baseline is what the same weights give to the
places of the other scenes' things. The head is chosen on other scenes than it is measured on.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64

from attnviz.attention.capture import Capture
from attnviz.capture.run import capture
from attnviz.checks.cards import Description, HeadNote
from attnviz.checks.figure import Figure
from attnviz.models.loaded import LoadedModel
from attnviz.types import HeadId
from attnviz.worlds.forms import COLOURS
from attnviz.worlds.shapes import LABELS, Scene, sample

CASES, CHOOSING = range(8_000_000, 8_001_000), range(8_100_000, 8_100_030)
N_LOOKED_AT, BATCH = 200, 100


@dataclass(frozen=True)
class Looker:
    """The head whose [CLS] rests most on the thing asked for, by mean shares of its weight.

    `own` lies on the thing, `elsewhere` on the places of other scenes' things; `area` is covered.
    """

    head: HeadId
    own: float
    elsewhere: float
    area: float


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    """Forms and colours named right, and how much the best head prefers the thing asked for."""
    scenes = [sample(seed) for seed in CASES]
    named, truth = answers(lm, scenes), np.array([scene.label_id for scene in scenes])
    n_colours, n = len(COLOURS), len(scenes)
    found = looker(lm)
    weight, over_habit = "[CLS] weight on the thing over", found.own / found.elsewhere
    return (
        Figure(
            "forms named right", _share(named // n_colours == truth // n_colours), 0.97, cases=n
        ),
        Figure(
            "colours named right", _share(named % n_colours == truth % n_colours), 0.97, cases=n
        ),
        Figure("form and colour both right", _share(named == truth), 0.95, cases=n),
        Figure(f"{weight} its area, {found.head}", found.own / found.area, 2.0, cases=N_LOOKED_AT),
        Figure(
            f"{weight} that on other pictures' things, {found.head}",
            over_habit,
            1.5,
            cases=N_LOOKED_AT,
        ),
    )


def describe(lm: LoadedModel) -> Description:
    """The rest of the card."""
    found = looker(lm)
    return Description(
        what="a vision transformer that names the largest thing of a picture: its form and colour",
        data=(
            "generated pictures of one to five forms (attnviz.worlds.shapes); no outside pictures;"
            " while it trained, each patch was also asked which form it belongs to"
        ),
        languages=(),
        heads=(
            HeadNote(
                str(found.head),
                "[CLS] rests on the largest thing; chance is the thing's share of the picture,"
                f" the places of other pictures' things get {found.elsewhere:.3f}",
                round(found.own, 3),
                round(found.area, 3),
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
    found = [
        recorded(lm, scenes[start : start + BATCH]).logits for start in range(0, len(scenes), BATCH)
    ]
    logits = torch.cat([each for each in found if each is not None])
    return np.asarray(logits.argmax(-1).cpu(), dtype=np.int64)


def recorded(lm: LoadedModel, scenes: list[Scene]) -> Capture:
    """One capture of several scenes."""
    return capture(lm, image=[scene.picture() for scene in scenes])


def looker(lm: LoadedModel) -> Looker:
    """The head whose [CLS] rests most on the thing asked for, beside both baselines."""
    scenes = [sample(seed) for seed in CHOOSING]
    cap = recorded(lm, scenes)
    each = [mass_on(scene, cap.all_weights(batch=row)) for row, scene in enumerate(scenes)]
    every = np.mean(each, axis=0)
    layer, number = np.unravel_index(int(every.argmax()), every.shape)
    head = HeadId(int(layer), int(number))
    scenes = [sample(seed) for seed in CASES[:N_LOOKED_AT]]
    cap = recorded(lm, scenes)
    weights = [cap.weights(head.layer, head.head, batch=row) for row in range(len(scenes))]
    own, elsewhere = on_things(scenes, weights)
    return Looker(head, own, elsewhere, float(np.mean([each.cover().mean() for each in scenes])))


def on_things(
    scenes: list[Scene], weights: list[Float32[np.ndarray, "query key"]]
) -> tuple[float, float]:
    """The mean share of [CLS]'s weight on the scene's own thing, and on those of the others."""
    mass = np.array([[float(mass_on(each, of)) for each in scenes] for of in weights])
    own = np.diag(mass)
    others = (mass.sum(axis=1) - own) / (len(scenes) - 1)
    return float(own.mean()), float(others.mean())


def mass_on(
    scene: Scene, weights: Float32[np.ndarray, "*heads query key"]
) -> Float64[np.ndarray, "*heads"]:
    """The share of [CLS]'s weight on patches that lies on the thing asked for."""
    cover = scene.cover().ravel().astype(np.float64)
    from_cls = weights[..., 0, -len(cover) :].astype(np.float64)
    return np.asarray((from_cls * cover).sum(-1) / from_cls.sum(-1))


def _share(right: np.ndarray) -> float:
    return float(right.mean())
