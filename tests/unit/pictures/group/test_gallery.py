"""`gallery`: the numbers of the start page's miniatures are the library's."""

import numpy as np

import attnviz
from attnviz.app.server import captures
from attnviz.app.session import model_images
from attnviz.capture.request import Request
from attnviz.checks import examples
from attnviz.checks.examples import OPENINGS
from attnviz.experiment.outputs.alignment import align
from attnviz.experiment.outputs.classes import classes
from attnviz.pictures import gallery
from attnviz.pictures.group.app_capture import AppCapture

N_TOKENS = 4


def captured(name: str, request: Request) -> AppCapture:
    return captures.run_as_app_capture(attnviz.load(name), request, name, name, lambda: None)


def test_lines_are_one_head_between_the_words() -> None:
    sentence, target = examples.texts("translator")[0], "le petit chat blanc voit une pomme verte ."
    shown = captured("translator", Request.of((sentence,), target=[target]))
    head = OPENINGS["translator"].head
    view = gallery.lines(shown, target, head)
    alignment = align(shown.model, shown.capture, target)
    assert view.source[:4] == ("The", "little", "white", "cat")
    row, column = view.target.index("chat"), view.source.index("cat")
    assert view.weights[row, column] > 0.9  # the pair whose line is drawn
    whole = alignment.weights[head.layer, head.head]
    words = [word.text for word in alignment.target], [word.text for word in alignment.source]
    assert view.weights[row, column] == whole[words[0].index("chat"), words[1].index("cat")]


def test_picture_has_the_row_of_the_opening_and_the_answer() -> None:
    image = model_images.made(model_images.default("shapes"))
    shown = captured("shapes", Request.of(image=image))
    opening = OPENINGS["shapes"]
    view = gallery.picture(shown, opening.head, opening.query)
    weights = shown.capture.weights(opening.head.layer, opening.head.head)
    assert view.weights.shape == (6, 6)
    assert (view.weights.ravel() == weights[opening.query, 1:]).all()
    assert view.weights.max() == weights[opening.query, opening.key]
    predicted = classes(shown.model, shown.capture)
    assert (view.answer, view.probability) == (predicted.best, predicted.probabilities.max())


def test_story_gives_each_token_its_own_row() -> None:
    shown = captured("stories", Request.of(("Once upon a time there was a",), generate=N_TOKENS))
    view = gallery.story(shown)
    assert len(view.tokens) - view.n_given == shown.capture.n_generated > 0
    assert view.tokens[: view.n_given] == ("▸", *shown.capture.tokens.labels[1 : view.n_given])
    last = shown.capture.all_weights()[-1].mean(axis=0)
    np.testing.assert_allclose(view.weights, last)
    assert not np.triu(view.weights, 1).any()
