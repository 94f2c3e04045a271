"""`attnviz worksheet`: a page in the language that was asked for."""

import pytest

from attnviz.cli import main


def test_run_prints_a_page_with_numbers_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    pages = []
    for seed in ("7", "8"):
        assert main.main(["worksheet", "block", "--lang", "ja", "--seed", seed]) == 0
        pages.append(capsys.readouterr().out)
    assert all(page.startswith("<!doctype html>") and '<html lang="ja">' in page for page in pages)
    assert pages[0] != pages[1]
