"""The shipped weights of `dates`: what its card claims, and any text at all."""

import pytest

import attnviz
from attnviz import checks
from attnviz.checks.encoder_decoders import greedy_answers
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.registry import DATES
from tests.support.hostile import TOKENS

# written by hand; weekday, case and format vary
WANTED = {
    "Monday, January 12, 1948": "1948-01-12",
    "the twenty-third of October, 1999": "1999-10-23",
    "4 july 1976": "1976-07-04",
    "SUNDAY, FEB. 29, 2032": "2032-02-29",
    "We met on the 1st of March, 2004.": "2004-03-01",
    "in 1815, on June 18": "1815-06-18",
    "31.12.1999": "1999-12-31",
    "07/20/1969": "1969-07-20",
    "1805/10/21": "1805-10-21",
    "May the fifth, 2055": "2055-05-05",
}


@pytest.fixture(scope="module")
def dates() -> LoadedModel:
    return attnviz.load("dates")


@pytest.mark.slow
def test_its_figures_are_reached_and_stand_on_its_card(dates: LoadedModel) -> None:
    card = checks.card("dates")
    assert card is not None
    found = checks.check("dates")
    assert all(figure.reached for figure in found), found
    assert [figure.name for figure in found] == [figure.name for figure in card.figures]
    for measured, written in zip(found, card.figures, strict=True):
        assert measured.value == pytest.approx(written.value, abs=0.002)
        assert (measured.target, measured.cases) == (written.target, written.cases)


def test_dates_by_hand(dates: LoadedModel) -> None:
    assert greedy_answers(dates, list(WANTED)) == tuple(WANTED.values())


def test_its_card_of_the_registry_is_counted(dates: LoadedModel) -> None:
    n_parameters = sum(parameter.numel() for parameter in dates.model.parameters())
    assert dates.card.parameters == n_parameters
    size = (DATES.folder / "model.safetensors").stat().st_size
    assert dates.card.size_mib == round(size / 2**20, 1)


@pytest.mark.some(1)
@pytest.mark.parametrize("text", TOKENS)
def test_any_text_is_read(dates: LoadedModel, text: str) -> None:
    attnviz.capture(dates, text, generate=4, cut=True).verify().require()
