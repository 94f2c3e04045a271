"""Results of attribution: one line as the last line of a cell, a table when they are printed."""

import numpy as np
import pytest

import attnviz
from attnviz.models.loaded_model import LoadedModel

TEXT = "Lily gave the red ball to"


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


def test_a_result_is_one_line(stories: LoadedModel) -> None:
    on = attnviz.NextToken(" Tom")
    run = attnviz.experiment(stories, TEXT, on=on)
    parts, tokens = run.direct(), run.tokens()
    guesses, feeds, score = run.lens(), run.paths(), run.why("L2.H1", 5, 2)
    for result in (parts, tokens, guesses, feeds, score):
        assert "\n" not in repr(result) and len(repr(result)) < 200
        assert repr(result).startswith(type(result).__name__)
    assert str(feeds.strongest(1)[0]) in repr(feeds)
    assert repr(feeds.strongest(1)) == f"(Path({feeds.strongest(1)[0]}),)"
    assert str(score).splitlines()[0].split() == ["query", "side", "key", "side", "share"]
    asks, answers, share = score.pairs(1)[0]
    assert str(score).splitlines()[1].split() == [*f"{asks} {answers}".split(), f"{share:+.3f}"]


def test_print_lists_the_largest_first(stories: LoadedModel) -> None:
    on = attnviz.NextToken(" Tom")
    run = attnviz.experiment(stories, TEXT, on=on)
    parts, tokens = run.direct(), run.tokens()
    header, first, *_ = str(parts).splitlines()
    largest = int(np.abs(parts.values).argmax())
    assert header.split() == ["component", "value"]
    assert first.split() == [
        *str(parts.components[largest]).split(),
        f"{parts.values[largest]:+.3f}",
    ]
    _, first, *others = str(tokens).splitlines()
    at = tokens.strongest("hidden")
    assert first.split()[:2] == [tokens.tokens.labels[at], str(at)]
    assert len(others) == len(tokens.tokens) - 1


def test_a_split_is_lists_too(stories: LoadedModel) -> None:
    parts = attnviz.experiment(stories, TEXT, on=attnviz.NextToken(" Tom")).direct()
    lists = parts.to_dict()
    assert lists["component"] == [str(component) for component in parts.components]
    assert lists["value"] == parts.values.tolist()


def test_effects_say_over_which_texts_a_mean_is(stories: LoadedModel) -> None:
    on = attnviz.NextToken(" Tom")
    run = attnviz.experiment(stories, TEXT, on=on)
    mean = run.effects(heads=["L0.H0"])
    own = run.effects(to="resample", corpus=["Tom ran."], heads=["L0.H0"])
    zero = run.effects(to="zero", heads=["L0.H0"])
    assert repr(mean).startswith("Effects (exact, mean over 50 generated stories) of 1 head on")
    assert repr(own).startswith("Effects (exact, resample from 1 text) of")
    assert repr(zero).startswith("Effects (exact, zero) of")


def test_a_token_that_raises_the_answer_has_opposite_signs(stories: LoadedModel) -> None:
    """`hidden` is the change without a token, `frozen` the token's part."""
    tokens = attnviz.experiment(stories, TEXT, on=attnviz.NextToken(" Tom")).tokens()
    at = tokens.strongest("frozen")
    assert tokens.scores["hidden"][at] * tokens.scores["frozen"][at] < 0


def test_of_the_tokens_that_it_writes_a_model_does_not_read_the_last(stories: LoadedModel) -> None:
    assert [attnviz.capture(stories, TEXT, generate=n).n_generated for n in (6, 1)] == [5, 0]
