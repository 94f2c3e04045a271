"""Write what the gallery of Start and the shelf of Learn show: `python -m scripts.write_gallery`.

In: the embedded models, and the first training of the lesson on birth. Out:
attnviz/pictures/gallery/measured.json and attnviz/teach/course/shelf.json, which come with the
package: nobody waits for a miniature, and no server computes it for each visitor; and the opening
of the stage, which a server that has just begun shows. Tests compute all of it again.
"""

import numpy as np

import attnviz
from attnviz.app.page_parts import start
from attnviz.app.server import captures, course_lessons
from attnviz.app.session import model_images, openings
from attnviz.capture.request import Request
from attnviz.checks import examples
from attnviz.checks.examples import OPENINGS
from attnviz.experiment.outputs.answer import answer
from attnviz.pictures import gallery, stage
from attnviz.pictures.gallery import Birth, GalleryView, Lines, PictureRead, Story
from attnviz.pictures.group.app_capture import AppCapture
from attnviz.pictures.shared import stored as stored_views
from attnviz.teach.course import shelf, toy_model

SEED = 0
N_STEPS = 200  # a quarter of the lesson's training: the head copies from the hundredth step on


def main() -> None:
    texts = {
        gallery.PLACE: gallery.as_text(computed()),
        stage.MEASURED: stored_views.as_text(start.computed_stage(*openings.OPENING)),
        shelf.PLACE: shelf.as_text(shelf.computed(course_lessons.capture)),
    }
    for place, text in texts.items():
        place.write_text(text, encoding="utf-8")
        print(f"{place}: {place.stat().st_size / 1e3:.0f} kB")


def computed() -> GalleryView:
    """All miniatures, from the models."""
    return GalleryView(translator(), picture(), story(), birth())


def translator() -> Lines:
    """A translation and the head of the opening."""
    sentence = examples.texts("translator")[0]
    target = answer(attnviz.load("translator"), sentence)
    request = Request.of((sentence,), target=[target])
    return gallery.lines(captured("translator", request), target, OPENINGS["translator"].head)


def picture() -> PictureRead:
    """A made picture and the head and query of the opening."""
    opening = OPENINGS["shapes"]
    request = Request.of(image=model_images.made(model_images.default("shapes")))
    return gallery.picture(captured("shapes", request), opening.head, opening.query)


def story() -> Story:
    """A story that the model goes on with."""
    request = Request.of((start.beginning(),), generate=start.N_TOKENS + 1)
    return gallery.story(captured("stories", request))


def captured(model: str, request: Request) -> AppCapture:
    """A capture as pages show it."""
    return captures.run_as_app_capture(attnviz.load(model), request, model, model, lambda: None)


def birth() -> Birth:
    """A training: the attention of the head that copies best at its end, step by step."""
    snapshots = list(toy_model.train(SEED, steps=N_STEPS))
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
    )


if __name__ == "__main__":
    main()
