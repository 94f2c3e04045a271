"""`address`: what a deep link restores, what is refused, what comes back unchanged."""

import random
from urllib.parse import quote_plus

import pytest

from attnviz import i18n
from attnviz.app.session import address, current
from attnviz.app.session.address import PARAMETERS, changed
from attnviz.app.session.view import View, default_view
from attnviz.pictures.shared import numbers
from attnviz.pictures.shared.selection import SCALES, SPECIALS

DEFAULT = default_view()


def restored(parameters: dict[str, str]) -> View:
    values, rejected = address.parse(parameters)
    assert rejected == ()
    return address.view_of(values)


def test_an_empty_address_is_the_default_view() -> None:
    assert address.parse({}) == ({}, ())
    assert address.params(DEFAULT) == {}


def test_an_address_restores_its_view() -> None:
    view = changed(
        DEFAULT,
        dict(
            model="minilm",
            text='</script>&?=+ %{x} "日本語" 👩‍👩‍👧',
            text2="",
            cut=True,
            lang="ja",
            layer=5,
            head=0,
            query=3,
            key=7,
            scale="log",
            special="hide",
        ),
    )
    assert restored(address.params(view)) == view


def test_random_views_survive_the_address() -> None:
    rng = random.Random(7)
    alphabet = "ab &=?#%+/\\<>'\"\n\t漢字🙂\u202e\x00é"
    index = [None, 0, 3, 99_999]
    for _ in range(300):
        view = changed(
            DEFAULT,
            dict(
                model=rng.choice(["minilm", "other"]),
                text="".join(rng.choices(alphabet, k=rng.randrange(20))),
                text2="".join(rng.choices(alphabet, k=rng.randrange(20))),
                cut=rng.random() < 0.5,
                file=rng.random() < 0.5,
                target="".join(rng.choices(alphabet, k=rng.randrange(9))),
                generate=rng.randrange(numbers.MAX_WRITTEN + 1),
                temperature=round(rng.uniform(*numbers.FRACTIONS["temperature"]), 2),
                top_k=rng.randrange(numbers.COUNTS["top_k"] + 1),
                top_p=round(rng.uniform(*numbers.FRACTIONS["top_p"]), 2),
                seed=rng.randrange(numbers.MAX_INDEX + 1),
                lang=rng.choice([None, *i18n.LANGUAGES]),
                stack=rng.choice([None, "encoder", "decoder"]),
                kind=rng.choice([None, "self", "cross"]),
                image=rng.choice(["", "own", "stripes", "sample-0", "sample-99999"]),
                layer=rng.choice(index),
                head=rng.choice(index),
                query=rng.choice(index),
                key=rng.choice(index),
                scale=rng.choice(SCALES),
                special=rng.choice(SPECIALS),
            ),
        )
        assert restored(address.params(view)) == view


def test_the_order_of_parameters_is_that_of_the_browser() -> None:
    values = {"key": 4, "layer": 1, "head": 2, "query": 3, "lang": "ko", "cut": True, "text": "a"}
    view = changed(DEFAULT, values)
    assert list(address.params(view)) == ["text", "cut", "lang", "layer", "head", "query", "key"]


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("layer", "-1"),
        ("layer", "1.0"),
        ("layer", "0x1"),
        ("layer", "٣"),
        ("layer", "1e3"),
        ("layer", ""),
        ("head", "9999999999999999999999"),
        ("query", "100000"),
        ("key", "None"),
        ("scale", "cubic"),
        ("special", "maybe"),
        ("lang", "xx"),
        ("lang", "EN"),
        ("cut", "yes"),
        ("generate", "-1"),
        ("generate", "some"),
        ("temperature", "-1"),
        ("temperature", "hot"),
        ("temperature", "1e1"),
        ("temperature", "nan"),
        ("temperature", "inf"),
        ("temperature", "٠.٥"),
        ("top_k", "1.5"),
        ("top_p", ""),
        ("top_p", "0.123456789"),
        ("seed", "-3"),
        ("stack", "middle"),
        ("kind", "other"),
        ("image", ""),
        ("image", "sample-100000"),
        ("image", "/etc/passwd"),
    ],
)
def test_what_makes_no_sense_is_named_and_left_out(name: str, raw: str) -> None:
    found, rejected = address.parse({name: raw})
    assert rejected == (name,)
    assert found.get(name, False) is False


@pytest.mark.parametrize(
    ("name", "raw", "kept"),
    [
        ("generate", "65", 64),
        ("temperature", "2.5", 2.0),
        ("temperature", "0.70", 0.7),
        ("top_k", "99999", 1000),
        ("top_p", "0", 0.01),
        ("top_p", "1.2", 1.0),
    ],
)
def test_a_number_beyond_its_bounds_is_brought_back(name: str, raw: str, kept: float) -> None:
    found, rejected = address.parse({name: raw})
    assert found == {name: kept}
    assert rejected == (() if float(raw) == kept else (name,))


@pytest.mark.parametrize("raw", [True, 1.5, [], {}, b"1", -1])
def test_an_index_from_a_component_must_be_a_whole_number(raw: object) -> None:
    assert address.parse({"layer": raw}) == ({}, ("layer",))


@pytest.mark.parametrize("name", ["text", "text2", "target"])
def test_a_long_text_is_shortened_and_named(name: str) -> None:
    limit = address.MAX_CHARS[name]
    found, rejected = address.parse({name: "x" * (limit + 1)})
    assert found == {name: "x" * limit}
    assert rejected == (name,)
    assert address.parse({name: "x" * limit}) == ({name: "x" * limit}, ())


def test_a_lone_surrogate_is_replaced() -> None:
    found, rejected = address.parse({"text": "a\ud800b"})
    assert found == {"text": "a\ufffdb"}
    assert rejected == ("text",)
    quote_plus(found["text"])


def test_an_unknown_parameter_is_ignored() -> None:
    assert address.parse({"utm_source": "x", "view": "y"}) == ({}, ())


def test_the_longest_address_fits_a_request_line() -> None:
    texts = "".join(quote_plus("漢" * limit) for limit in address.MAX_CHARS.values())
    assert len(texts) + 1000 < 65_536


def test_what_is_typed_is_cleaned() -> None:
    assert address.cleaned("text", "a\udfffb") == "a\ufffdb"
    assert address.cleaned("text", None) == ""


def test_the_right_side_of_compare_survives_the_address() -> None:
    view = changed(
        DEFAULT,
        dict(
            model_b="stories",
            text_b="a & b",
            target_b="c",
            image_b="sample-3",
            stack_b="decoder",
            kind_b="cross",
            layer_b=1,
            head_b=0,
            query_b=4,
            key_b=0,
        ),
    )
    assert restored(address.params(view)) == view


@pytest.mark.parametrize(
    ("name", "raw"),
    [("layer_b", "x"), ("query_b", "-1"), ("stack_b", "left"), ("kind_b", ""), ("image_b", "../x")],
)
def test_the_right_side_is_checked_as_the_left_one(name: str, raw: str) -> None:
    assert address.parse({name: raw}) == ({}, (name,))


def test_two_texts_that_no_address_holds_leave_the_left_one() -> None:
    current.take({"text": "漢" * 6000, "text_b": "漢" * 6000})
    try:
        assert len(current.view().input.text) == 6000
        assert current.view().right.text == ""
    finally:
        names = ("text", "text_b")
        current.take({name: PARAMETERS[name].value(DEFAULT) for name in names})


def test_params_name_no_key_of_a_class() -> None:
    view = restored({"room": "K7Q-M2X", "host": "key", "seat": "place"})
    assert (view.classroom.host, view.classroom.seat) == ("key", "place")
    assert address.params(view) == {"room": "K7Q-M2X"}


@pytest.mark.parametrize("name", ["values", "answers", "edits", "changes"])
def test_what_is_written_is_read_again(name: str) -> None:
    """A lone surrogate cannot be written, and a text may be too long once it is escaped."""
    for raw in ("\ud800=1", "a=\ud800", "=".join(("猫", "犬" * 300)), "&".join(["é=ü"] * 60)):
        value, _ = address.checked(name, raw)
        assert value is None or address.checked(name, value) == (value, True)
