"""Class probabilities against torch's own softmax and sigmoid, on models saved and loaded."""

import numpy as np
import pytest
import torch
from PIL import Image

import attnviz
from attnviz.experiment.outputs.classes import Classes, class_names, classes, factors, has_classes
from tests.support import folders

TEXT = "the cat sat on a mat"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, attnviz.LoadedModel]:
    root = tmp_path_factory.mktemp("classifiers")
    names = ("forms", "verdict", "topics", "bert", "gpt2")
    return {name: attnviz.load(str(folders.save(root / name, name))) for name in names}


def table(names: tuple[str, ...], values: list[float], exclusive: bool = True) -> Classes:
    return Classes(names, np.array(values, dtype=np.float32), exclusive)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("forms", tuple(folders.FORM_LABELS.values())),
        ("verdict", ("negative", "positive")),
        ("topics", ("sport", "<b>art</b>", "food")),
    ],
)
def test_probabilities_are_those_of_torch(
    loaded: dict[str, attnviz.LoadedModel], name: str, labels: tuple[str, ...]
) -> None:
    lm = loaded[name]
    picture = Image.effect_noise((24, 24), 60)
    cap = attnviz.capture(lm, image=picture) if name == "forms" else attnviz.capture(lm, TEXT)
    assert has_classes(lm, cap)
    found = classes(lm, cap)
    assert found.names == class_names(lm) == labels
    assert found.exclusive == (name != "topics")
    logits = cap.logits[0].double()
    expected = logits.softmax(-1) if found.exclusive else logits.sigmoid()
    np.testing.assert_allclose(found.probabilities, expected.numpy(), atol=1e-6)
    assert found.best == labels[int(logits.argmax())]
    order = found.probabilities[list(found.order)]
    assert (np.diff(order) <= 0).all()
    assert sorted(found.order) == list(range(len(labels)))


def test_each_text_of_a_batch_has_its_own(loaded: dict[str, attnviz.LoadedModel]) -> None:
    lm = loaded["verdict"]
    both = attnviz.capture(lm, [TEXT, "the dog ran"])
    for batch, text in enumerate((TEXT, "the dog ran")):
        alone = classes(lm, attnviz.capture(lm, text))
        np.testing.assert_allclose(
            classes(lm, both, batch).probabilities, alone.probabilities, atol=1e-5
        )


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_language_model_has_no_classes(loaded: dict[str, attnviz.LoadedModel], name: str) -> None:
    """Their logits are a row for each token."""
    assert not has_classes(loaded[name], attnviz.capture(loaded[name], TEXT))


@pytest.mark.parametrize(
    ("labels", "problem"),
    [({0: "score"}, None), ({0: "a", 1: "b", 2: "c"}, "regression"), ({0: "a", 1: "b"}, None)],
    ids=["one number", "regression", "another number of names"],
)
def test_what_is_no_probability_is_no_class(
    loaded: dict[str, attnviz.LoadedModel],
    monkeypatch: pytest.MonkeyPatch,
    labels: dict[int, str],
    problem: str | None,
) -> None:
    lm = loaded["topics"]
    cap = attnviz.capture(lm, TEXT)
    monkeypatch.setattr(lm.model.config, "id2label", labels)
    monkeypatch.setattr(lm.model.config, "problem_type", problem)
    if len(labels) == 1:
        monkeypatch.setattr(cap.logits, "data", torch.ones(1, 1))
    assert not has_classes(lm, cap)


def test_equal_classes_keep_the_models_order() -> None:
    assert table(("a", "b", "c"), [0.25, 0.5, 0.25]).order == (1, 0, 2)


def test_factors_sum_over_the_other_word() -> None:
    names = ("red circle", "blue circle", "red square", "blue square", "red star", "blue star")
    colour, form = factors(table(names, [0.5, 0.125, 0.0625, 0.0625, 0.125, 0.125]))
    assert colour.names == ("red", "blue")
    np.testing.assert_array_equal(colour.probabilities, [0.6875, 0.3125])  # 0.5 + 0.0625 + 0.125
    assert form.names == ("circle", "square", "star")
    np.testing.assert_array_equal(form.probabilities, [0.625, 0.125, 0.25])
    assert form.best == "circle"


@pytest.mark.parametrize(
    "names",
    [
        ("red circle", "blue circle", "red square"),  # a hole in the table
        ("red circle", "red circle", "blue square", "blue square"),
        ("red circle", "blue circle"),  # one form only
        ("red", "blue"),
        ("a red circle", "a blue circle", "a red square", "a blue square"),
    ],
)
def test_names_that_are_no_table_have_no_factors(names: tuple[str, ...]) -> None:
    assert factors(table(names, [1 / len(names)] * len(names))) == ()


def test_classes_that_may_hold_together_have_no_factors() -> None:
    names = ("red circle", "blue circle", "red square", "blue square")
    assert factors(table(names, [0.9] * 4, exclusive=False)) == ()
    assert len(factors(table(names, [0.25] * 4))) == 2
