"""The benchmark of the workbench: what travels is right, and a wrong result ends with an error."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import library, others, workbench
from benchmarks.measure import FAST, SKIPPED, SLOW, WRONG, table

PAYLOAD = ["--part", "payload", "--rounds", "1"]
LABELS, WEIGHTS = ["a", "b"], np.full((1, 3, 2, 2), 0.5, np.float32)


@pytest.mark.slow
def test_wrong_weights_in_the_payload_end_with_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workbench.main(PAYLOAD) == 0
    right = capsys.readouterr().out
    assert WRONG not in right and "encoder, n=128" in right and "decoder, n=128" in right
    unpack = library.unpack

    def darker(data: bytes) -> tuple[object, dict[str, np.ndarray]]:
        header, arrays = unpack(data)
        return header, {
            name: array * 0.9 if name == "weights" else array for name, array in arrays.items()
        }

    monkeypatch.setattr(library, "unpack", darker)
    assert workbench.main(PAYLOAD) == 1
    assert "weights in the payload are off by" in capsys.readouterr().out


def test_a_tool_that_is_absent_is_a_row_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(others, "MAKERS", {"no_such_tool": others.MAKERS["bertviz"]})
    (result,) = others.measure(1)
    assert result.verdict == SKIPPED
    assert "skipped no_such_tool" in table([result])
    assert "no_such_tool is not installed" in table([result])


def test_tools_that_are_there_are_asked_for_every_head(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def model_view(attention: list[object], tokens: list[str], html_action: str) -> object:
        asked.append((len(attention), tokens, html_action))
        return SimpleNamespace(data="x" * 100)

    def attention_patterns(tokens: list[str], attention: np.ndarray) -> str:
        asked.append((len(attention), tokens, "str"))
        return "x"

    modules = {
        "bertviz": SimpleNamespace(model_view=model_view),
        "circuitsvis.attention": SimpleNamespace(attention_patterns=attention_patterns),
    }
    monkeypatch.setattr("importlib.import_module", modules.__getitem__)
    time, size = others.of_tool("bertviz", LABELS, WEIGHTS, 1)
    assert (time.wrong, size.median, size.unit) == (None, 0.1, "kB")
    few, _ = others.of_tool("circuitsvis", LABELS, WEIGHTS, 1)
    assert few.verdict == WRONG and few.wrong is not None and "do not hold" in few.wrong
    assert asked == [(1, LABELS, "return"), (3, LABELS, "str")]
    assert few.verdict not in (FAST, SLOW)
