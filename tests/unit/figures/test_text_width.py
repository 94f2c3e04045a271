"""`width`, `shortened` and `legible`: labels fit their room, and every sign can be seen."""

from attnviz.figures.text_width import legible, shortened, width


def test_width_counts_wide_signs_and_not_combining_ones() -> None:
    assert width("ab", 10.0) == 6.13 + 6.35
    assert width("猫", 10.0) == 11
    assert width("e\u0301", 10.0) == width("e", 10.0)
    assert width("ab", 10.0, bold=True) > width("ab", 10.0)


def test_shortened_text_fits_its_room() -> None:
    for text in ("international", "猫" * 20, "x"):
        for room in (8.0, 30.0, 500.0):
            short = shortened(text, 7.0, room)
            assert short == text or short.endswith("…")
            assert width(short, 7.0) <= max(room, width("…", 7.0))


def test_legible_text_has_no_hidden_signs() -> None:
    assert legible("a b") == "a b"
    assert legible("a\u202eb\x00\ud83d\ufffe") == "a⟨U+202E⟩b⟨U+0000⟩⟨U+D83D⟩⟨U+FFFE⟩"
