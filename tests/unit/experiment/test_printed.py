"""Results of attribution: one line as the last line of a cell, a table when they are printed."""

import numpy as np
import pytest

import attnviz
from attnviz.experiment.answer_measures import split_name
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


def test_split_of_a_target_prints_the_name_of_the_number_that_it_splits() -> None:
    """A log-likelihood is below 0; what is split is a sum of logits, each minus the mean."""
    lm = attnviz.load("translator")
    run = attnviz.experiment(lm, "The cat sleeps.", on=attnviz.Target("Le chat dort."))
    labels = run.prepared.labels()[0]
    logits = run.prepared.clean["logits"][0, : len(labels)].double()
    picked = logits[range(len(labels)), labels]
    centred = float((picked - logits.mean(-1)).sum())
    assert float((picked - logits.logsumexp(-1)).sum()) < 0 < centred
    for result in (run.direct(), run.direct(by="token")):
        assert result.own == pytest.approx(centred, rel=1e-5)
        said = "Σ(the logit minus the mean of all), Target("
        assert f" of {said}" in repr(result)
    assert str(run.direct(by="token")).startswith(said)


def test_split_name_is_the_measure_where_the_measure_is_split() -> None:
    plain, log = attnviz.NextToken(" Tom"), attnviz.NextToken(" Tom", log_probability=True)
    assert split_name(plain) == str(plain)
    assert split_name(log) == f"the logit minus the mean of all, {log}"
    assert split_name(None) == "the number"
