"""The benchmark's library part runs, is right, and ends with an error when a result is wrong."""

import json

import pytest

import attnviz
from attnviz.models.loaded_model import LoadedModel
from benchmarks import library, spine
from benchmarks.measure import FAST, SLOW, WRONG, Result, as_json, table
from benchmarks.texts import text_of

LIBRARY = ["--part", "library", "--rounds", "2"]


@pytest.fixture(autouse=True)
def loaded_model(minilm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnviz.load", lambda _name, **_options: minilm)


@pytest.mark.slow
def test_the_library_part_prints_right_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert spine.main([*LIBRARY, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert len(report["results"]) == 4
    for result in report["results"]:
        assert result["wrong"] is None
        assert 0 < result["least"] <= result["median"] <= result["most"]


def test_the_payload_keeps_its_budget(minilm: LoadedModel) -> None:
    """A count of bytes, so no machine is too slow for it."""
    text = text_of(minilm, library.N_TOKENS)
    result = library.payload(text, attnviz.capture(minilm, text))
    assert result.verdict == FAST
    assert result.budget == pytest.approx(1.05 * 6 * 12 * 128**2 / 1000, abs=0.1)


def test_a_wrong_result_ends_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forward = library.forward
    monkeypatch.setattr(library, "forward", lambda model, text: forward(model, text) + 1)
    assert spine.main(LIBRARY) == 1
    assert "changed the model's output by 1.0e+00" in capsys.readouterr().out


def test_slow_is_marked_and_wrong_comes_first() -> None:
    slow = Result("a", (3.0, 9.0, 4.0), "ms", 3.9)
    wrong = Result("b", (1.0,), "ms", 3.9, wrong="off by one")
    assert (slow.median, slow.verdict, wrong.verdict) == (4.0, SLOW, WRONG)
    assert "WRONG b: off by one" in table([slow, wrong])
    assert json.loads(as_json([slow]))["results"][0]["ok"] == SLOW


@pytest.mark.some(1)
@pytest.mark.parametrize("n_tokens", [16, 128, 510])
def test_texts_have_the_length_asked_for(minilm: LoadedModel, n_tokens: int) -> None:
    text, other = text_of(minilm, n_tokens), text_of(minilm, n_tokens, start=5)
    assert text != other
    for each in (text, other):
        assert len(minilm.tokenizer(each)["input_ids"]) == n_tokens
