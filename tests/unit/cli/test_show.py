"""`attnviz show`: a page in the browser, without a server."""

import json
import webbrowser
from pathlib import Path
from urllib.parse import urlparse

import pytest

from attnviz.cli import main


@pytest.mark.parametrize("has_browser", [True, False])
def test_a_page_is_written_and_opened(
    has_browser: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    opened: list[str] = []

    def remember(address: str) -> bool:
        opened.append(address)
        return has_browser

    monkeypatch.setattr(webbrowser, "open", remember)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert main.main(["show", "The cat sat", "--heads", "L5.H11,L0.H2", "--lang", "ja"]) == 0
    [address] = opened
    page = Path(urlparse(address).path)
    assert page.is_relative_to(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and '<html lang="ja" data-tokens="en">' in text
    ending = "" if has_browser else ": open it in a browser"
    assert capsys.readouterr().out == f"{page}{ending}\n"


def test_show_prints_json_about_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert main.main(["show", "Tom", "--model", "stories", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert Path(report["file"]).is_file()
    assert (report["opened"], report["ok"]) == (False, True)


def test_a_page_of_some_heads_is_shown_and_refuses_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    command = ["show", "The cat sat", "--keep", "L3.H1,L5.H11", "--heads"]
    assert main.main([*command, "all"]) == 0
    page = Path(capsys.readouterr().out.partition(":")[0]).read_text(encoding="utf-8")
    assert '"L3.H1":' in page and '"L5.H11":' in page and '"L5.H10":' not in page
    assert main.main([*command, "L5.H10"]) == main.FAILED
    assert "keeps L3.H1, L5.H11 alone" in capsys.readouterr().err


def test_a_head_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["show", "The cat sat", "--heads", "L9.H0"]) == main.FAILED
    assert "L9.H0" in capsys.readouterr().err
