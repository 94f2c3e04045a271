"""The sentences on heads, beside the weights that they tell of."""

import attnviz
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.heads import sentences
from attnviz.pictures.group.measures import measure
from attnviz.pictures.stage import STAGED


def test_a_share_among_words_says_that_it_is_one_of_the_attention_to_words() -> None:
    stories = attnviz.load("stories")
    captured = AppCapture.alone(attnviz.capture(stories, STAGED["book"].text), stories)
    group = captured.groups[0]
    said = sentences(PageContext("en", captured, group), measure(group))[2][1]
    rows = group.call(2).weights(1).numpy()[1:]  # of words; column 0 is no word
    share, among = rows[:, 1].mean(), (rows[:, 1] / rows[:, 1:].sum(1)).mean()
    assert share < 0.5 * among  # so whoever looks for the printed share in the picture misses it
    first = f"attends to the first token: on average {rows[:, 0].mean():.0%} of its attention (chan"
    assert said.startswith(first)
    assert "it attends to “When”" in said
    assert f": on average {among:.0%} of its attention to words (chance" in said
