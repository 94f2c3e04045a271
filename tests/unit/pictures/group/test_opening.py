"""`ranking.opening`: the first cell of a text is the clearest link, by the rules that it states."""

import pytest

import attnviz
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures.group import groups, ranking
from attnviz.pictures.group.groups import Group
from attnviz.types import HeadId

TROPHY = "The trophy did not fit in the suitcase because it was too big."
BREAD = "Bread tastes best fresh from the oven."


def group_of(model: LoadedModel, text: str, **options: str) -> Group:
    return groups.groups(attnviz.capture(model, text, **options))[-1]


def clearest(group: Group, rows: list[int], *, back: bool = False) -> tuple[str, int, int, float]:
    """The largest difference that `ranking.links` has in these rows, cell by cell."""
    queries, keys = groups.queries(group), groups.keys(group)
    words = [
        key
        for key, label in enumerate(keys.labels)
        if not keys.special[key] and any(map(str.isalnum, label))
    ]
    found = [
        (str(row.head), query, key, row.difference)
        for query in rows
        for key in words
        if group.cross or (abs(query - key) > 1 and (key < query or not back))
        for row in ranking.links(group, query, key)[:1]
    ]
    assert len(queries.labels) > max(rows)
    return max(found, key=lambda link: link[3])


def test_a_pronoun_opens_at_what_it_looks_back_at(minilm: LoadedModel) -> None:
    group = group_of(minilm, TROPHY)
    found = ranking.opening(group)
    assert found is not None
    labels = groups.queries(group).labels
    assert (str(found[0].head), labels[found[1]], labels[found[2]]) == ("L3.H1", "it", "trophy")
    head, query, key, difference = clearest(group, [labels.index("it")], back=True)
    assert (str(found[0].head), *found[1:]) == (head, query, key)
    assert found[0].difference == pytest.approx(difference, abs=1e-5)


def test_without_a_pronoun_the_clearest_link_of_all_words_opens(minilm: LoadedModel) -> None:
    group = group_of(minilm, BREAD)
    found = ranking.opening(group)
    assert found is not None
    rows = [row for row, label in enumerate(groups.queries(group).labels) if label.isalpha()]
    head, query, key, difference = clearest(group, rows)
    assert (str(found[0].head), *found[1:]) == (head, query, key)
    assert found[0].difference == pytest.approx(difference, abs=1e-5)
    inside = ranking.opening(group, HeadId(3, 1))
    assert inside is not None and inside[0].head == HeadId(3, 1)
    assert inside[0].difference < found[0].difference


def test_a_decoder_opens_where_its_mask_leaves_other_rows() -> None:
    group = group_of(attnviz.load("stories"), "Tom and Lily went to the park. Lily gave a ball to")
    found = ranking.opening(group)
    assert found is not None and found[2] < found[1]
    labels = groups.queries(group).labels
    assert (labels[found[1]], labels[found[2]]) == ("to", "Lily")


def test_a_text_of_signs_has_no_cell_to_show_first(minilm: LoadedModel) -> None:
    assert ranking.opening(group_of(minilm, "... !!! ???")) is None


def test_the_control_is_the_mean_of_the_rows_that_may_look() -> None:
    group = group_of(attnviz.load("stories"), "Tom and Lily went to the park. Lily gave a ball to")
    found = ranking.opening(group)
    assert found is not None
    head, query, key = found
    weights = group.capture.weights(head.head.layer, head.head.head)
    others = [row for row in range(key, len(weights)) if row != query]  # a decoder looks back
    assert head.share == weights[query, key]
    assert head.control == pytest.approx(weights[others, key].mean())
