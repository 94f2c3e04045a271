"""shelf: the stored picture of each lesson is what its recipe computes."""

import numpy as np

from attnviz.app.server import course_lessons
from attnviz.teach.course import SLUGS, shelf
from attnviz.teach.lessons.cards.texts import lesson_texts

TOLERANCE = 2e-3  # stored with four decimals; the models round otherwise on another machine


def test_levels_have_every_lesson_in_the_order_of_teaching() -> None:
    assert tuple(slug for level in shelf.LEVELS.values() for slug in level) == SLUGS


def test_stills_are_what_the_recipes_compute() -> None:
    stored, computed = shelf.stills(), shelf.computed(course_lessons.capture)
    assert list(stored) == list(computed) == list(SLUGS)
    for slug, still in computed.items():
        kept = stored[slug]
        assert (kept.card, kept.film, kept.scenes) == (still.card, still.film, still.scenes)
        assert (kept.labels, kept.named) == (dict(still.labels), dict(still.named)), slug
        assert (kept.before, kept.is_made_up) == (still.before, still.is_made_up)
        assert kept.numbers.keys() == still.numbers.keys()
        for name, values in still.numbers.items():
            np.testing.assert_allclose(kept.numbers[name], values, atol=TOLERANCE, err_msg=slug)


def test_stills_have_their_labels_in_every_language() -> None:
    for slug, still in shelf.stills().items():
        for lang in ("en", "ja", "ko", "zh"):
            texts = lesson_texts(slug, lang)  # type: ignore[arg-type]
            for key in (key for keys in still.named.values() for key in keys):
                assert "[[" not in texts.of(still.card, key)
