"""particles: the form that fits the inserted value, on its last sound."""

import pytest

from attnviz import i18n
from attnviz.i18n import particles
from attnviz.teach.lessons.cards import texts


@pytest.mark.parametrize(
    ("value", "particle", "form"),
    [
        *(("말", "은(는)", "은"), ("고양이", "이(가)", "가"), ("서울", "(으)로", "로")),
        *(("책", "(으)로", "으로"), ("집", "을(를)", "을"), ("나무", "과(와)", "와")),
        *(("0", "이(가)", "이"), ("1", "(으)로", "로"), ("3", "(으)로", "으로")),
        *(("8", "(이)", "이"), ("65504", "(이)", ""), ("0.109", "을(를)", "를")),
        *(("98%", "이(가)", "가"), ("L2.H1", "은(는)", "은"), ("**x3**", "이(가)", "이")),
        *(("K", "과(와)", "와"), ("W_Q", "은(는)", "는")),
        *(("animal", "은(는)", "은"), ("it", "이(가)", "이"), ("street", "을(를)", "를")),
        *((".", "이(가)", "이(가)"), ("", "은(는)", "은(는)")),
    ],
)
def test_fitting_reads_the_last_sound(value: str, particle: str, form: str) -> None:
    known = particle in particles.FORMS
    assert (particles.fitting(value, particle) if known else particle) == form


def test_fill_of_the_interface_and_of_lessons_choose_alike() -> None:
    assert i18n.fill("“{token}”이(가) {n}(으)로", {"token": "cat", "n": 3}) == "“cat”이 3으로"
    template = "**[[token]]**은(는) [[n:.2f]]을(를), [[token]](이)라"
    filled = texts.fill(template, {"token": "the_cat", "n": 0.5})
    assert filled == "**the\\_cat**은 0.50을, the\\_cat이라"


def test_an_inserted_text_keeps_both_forms_that_it_has_itself() -> None:
    assert i18n.fill("{token}", {"token": "값은(는)"}) == "값은(는)"


FIXED = r"(?:\}|\]\])[”’\)\*`]*(?:은|는|이|가|을|를|과|와|으로|로|이라)(?=[ ,.]|$)"


def test_korean_texts_fix_no_particle_after_a_value() -> None:
    import re

    from attnviz.teach.course import SLUGS

    fixed = [text for text in i18n.catalogue("ko").values() if re.search(FIXED, text)]
    for slug in SLUGS:
        cards = texts.lesson_texts(slug, "ko").cards.values()
        fixed += [text for card in cards for text in card.values() if re.search(FIXED, text)]
    assert fixed == []
    assert re.search(FIXED, "“{token}”이 본다")
