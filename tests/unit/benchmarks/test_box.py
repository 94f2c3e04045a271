"""The benchmark of the models in the box is right, and a wrong result ends it with an error."""

import pytest

from benchmarks import box
from benchmarks.measure import WRONG

ONE = ["--model", "dates", "--rounds", "1"]


@pytest.mark.slow
def test_right_results_end_without_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert box.main(ONE) == 0
    assert WRONG not in capsys.readouterr().out


@pytest.mark.slow
def test_it_prints_a_row_for_each_figure_and_a_wrong_one_ends_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(box, "SAME", -1.0)
    assert box.main(ONE) == 1
    said = capsys.readouterr().out
    for figure in ("dates: load", "dates: capture 64 tokens", "dates: write 40 tokens"):
        assert figure in said
    assert "WRONG dates: write 40 tokens: scores differ" in said


def test_every_embedded_model_is_measured() -> None:
    assert "dates" in box.embedded()
    assert "minilm" not in box.embedded()
