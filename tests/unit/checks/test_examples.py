"""`examples`: the texts and hints of each model, and the words that a model never learned."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz import i18n
from attnviz.checks import cards, examples
from attnviz.checks.cards import Description, HeadNote, TrainingCard, TrainingRecord
from attnviz.models import registry

TIRED = i18n.text("en", "example.tired")
REVIEWS = examples.SENTIMENT


def described(name: str, languages: tuple[str, ...], *heads: HeadNote) -> TrainingCard:
    what = Description("a test", "none", languages, heads, "all")
    return TrainingCard(name, "Apache-2.0", what, TrainingRecord(1, 2, 3.0, 4), ())


@pytest.fixture
def carded(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, TrainingCard]]:
    """Cards by name, instead of those in the models' folders."""
    known: dict[str, TrainingCard] = {}
    monkeypatch.setattr(examples, "card", known.get)
    yield known


@pytest.mark.parametrize("model", [*registry.REGISTRY, *examples.OWN_EXAMPLES, "some/other"])
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_every_example_has_a_hint_in_every_language(model: str, lang: i18n.Language) -> None:
    shown = examples.texts(model)
    assert len(set(shown)) == len(shown) > 0
    for each in shown:
        hint = examples.hint(lang, model, each)
        if hint is None:
            assert model not in {"minilm", "dates", *examples.OWN_EXAMPLES}
        else:
            assert "{" not in hint


def test_what_is_known_of_one_model_is_not_said_of_another() -> None:
    assert "in L3.H1" in (examples.hint("en", "minilm", TIRED) or "")
    assert examples.hint("en", "some/other", TIRED) is None


@pytest.mark.parametrize(
    ("before", "after", "shown", "expected"),
    [
        ("minilm", "stories", "typed by hand", "typed by hand"),
        ("minilm", "stories", TIRED, TIRED),  # an example of both
        ("minilm", "sentiment", TIRED, REVIEWS[0].text),
        ("sentiment", "minilm", REVIEWS[1].text, TIRED),
        (
            "stories",
            "stories-llama",
            "Once upon a time there was a",
            "Once upon a time there was a",
        ),
        ("minilm", "sentiment", " ", REVIEWS[0].text),
    ],
)
def test_an_example_gives_way_and_a_typed_text_stays(
    before: str, after: str, shown: str, expected: str
) -> None:
    assert examples.after_switch(before, after, shown) == expected


def test_a_hint_names_the_head_that_the_card_names(carded: dict[str, TrainingCard]) -> None:
    repeated = next(each for each in examples.STORIES if each.habit == "induction")
    plain = i18n.text("en", f"example_hint.{repeated.hint}")
    assert examples.hint("en", "stories", repeated.text) == plain
    heads = (
        HeadNote("L0.H1", "looks at the previous token", 0.8),
        HeadNote("L3.H2", "Induction", 1.0),
    )
    carded["stories"] = described("stories", ("en",), *heads)
    hint = examples.hint("en", "stories", repeated.text)
    assert hint is not None and "L3.H2" in hint and plain in hint
    assert "L0.H1" not in hint


def test_a_text_that_is_no_example_has_no_hint() -> None:
    assert examples.hint("en", "stories", "Something else") is None


@pytest.mark.parametrize(
    ("shown", "letters"),
    [
        ("Plain English, 42 times: naïve café œuvre!", ""),
        ("The cat 東京 sat 東", "東京"),
        ("그 cat", "그"),
        ("Ελληνικά", "Εληνικά"),
        ("🙂 → ∀", ""),
    ],
)
def test_letters_of_other_scripts_are_found(shown: str, letters: str) -> None:
    assert examples.foreign_letters("minilm", shown) == letters


def test_nothing_is_said_where_languages_are_not_known(carded: dict[str, TrainingCard]) -> None:
    assert examples.foreign_letters("some/other", "東京") == ""
    carded["some/other"] = described("some/other", ("xx",))
    assert examples.foreign_letters("some/other", "東京") == ""
    carded["some/other"] = described("some/other", ("en", "fr"))
    assert examples.foreign_letters("some/other", "東京") == "東京"


def test_a_text_for_dates_needs_a_year() -> None:
    assert examples.has_no_date("dates", "Monday morning")
    assert not examples.has_no_date("dates", "4 July 1976")
    assert not examples.has_no_date("minilm", "Monday morning")


def test_words_are_known_to_models_with_a_world_only() -> None:
    assert examples.unknown_words("minilm", "xylophone") == ()
    assert examples.unknown_words("some/other", "xylophone") == ()
    for model in ("stories", "stories-llama", "translator", "dates"):
        assert examples.unknown_words(model, "xylophone") == ("xylophone",)
        for example in examples.of_model(model):
            assert examples.unknown_words(model, example.text) == ()


def test_the_languages_come_from_the_file_of_the_card(
    tmp_path: Path, carded: dict[str, TrainingCard]
) -> None:
    cards.write(tmp_path, described("stories", ("en",)))
    carded["stories"] = cards.read(tmp_path)
    assert examples.languages("stories") == ("en",)
    assert examples.languages("minilm") == ("en",)


def test_a_contrast_differs_in_a_word_or_two_and_goes_both_ways() -> None:
    for one, other in examples.CONTRASTS.items():
        assert examples.contrast("minilm", one) == other
        assert examples.contrast("minilm", other) == one
        assert one != other


def test_a_text_that_resembles_no_example_is_its_own_contrast() -> None:
    assert examples.contrast("minilm", "nothing like it") == "nothing like it"
    assert examples.contrast("sentiment", "This is not a good film.") == "This is a good film."
