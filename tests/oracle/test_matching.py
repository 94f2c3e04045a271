"""Heads of two surveys are matched: with themselves, on other texts, and with another model."""

import pytest

import attnviz
from attnviz import i18n
from attnviz.pictures.atlas import fill as atlas
from scripts.write_surveys import generated_stories


@pytest.mark.slow
def test_heads_on_other_texts_are_matched_with_themselves_far_below_the_control() -> None:
    texts = generated_stories("")[:120]
    first, second = (attnviz.survey("stories", part) for part in (texts[:60], texts[60:]))
    found = first.matches(second)
    assert [match.head for match in found] == list(first.heads)
    own = [match for match in found if match.other == match.head]
    assert len(own) >= 14, "by chance 1 of 16"
    assert all(match.mutual and match.distance < match.median / 2 for match in own)
    assert all(match.distance == 0 and match.mutual for match in first.matches(first))


def test_matches_of_another_model_are_nearer_than_its_other_heads_and_told_with_them() -> None:
    survey, other = attnviz.survey("stories"), attnviz.survey("stories-llama")
    found = survey.matches(other)
    assert all(match.distance <= match.median and match.other in other.heads for match in found)
    previous = survey.table(["previous"])["previous"]
    best = survey.heads[int(previous.argmax())]
    partner = found[survey.heads.index(best)].other
    theirs = other.table(["previous"])["previous"]
    assert theirs[other.heads.index(partner)] > 2 * float(theirs.mean()), "previous token, too"
    for lang in i18n.LANGUAGES:
        view = atlas.atlas(lang, survey, best, ("distance", "entropy"), None, other)
        assert str(partner) in view.detail.sentences[-1]
        alone = atlas.atlas(lang, survey, best, ("distance", "entropy"), None)
        assert view.detail.sentences[:-1] == alone.detail.sentences
