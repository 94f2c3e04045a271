"""Hostile archives, captures, folders and addresses: a sentence of ours or no harm, never else.

`python -m tests.support.fuzz KIND SEED COUNT` makes more of them, under a limit of memory; a fault
is named by its kind, seed and number, from which `fuzz.attempt` makes it again.
"""

import json
import subprocess
import sys

import pytest

from tests.support import fuzz
from tests.support.server import ROOT

QUICK = {"archive": 60, "capture": 80, "folder": 12, "address": 300}
MOST_GROWTH_MIB = 50
EXPECTED = {
    "archive": {"opened", "no_file"},
    "capture": {"opened", "bad_capture_file", "capture_not_finite"},
    "folder": {"opened", "field_out_of_range", "field_not_allowed"},
    "address": {"opened", "rejected"},
}


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_some_attempts_end_in_a_sentence_or_are_harmless(kind: str) -> None:
    report = fuzz.run(kind, 17, QUICK[kind])
    assert not report.unexpected and not report.slow
    assert "opened" in report.outcomes and sum(report.outcomes.values()) == QUICK[kind]


# what came through once: an archive's header without end, scores beyond float32, NaN from a mask,
# values of another width than the output, an answer in an address that is half a character
FOUND = (
    *("archive 1 153", "capture 2 1323", "capture 2 4806", "capture 2 2256", "capture 2 4731"),
    *("address 1 607", "address 1 1880"),
)


@pytest.mark.parametrize("name", FOUND)
def test_what_came_through_once_is_refused_or_harmless(name: str) -> None:
    assert fuzz.attempt(name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_twenty_thousand_attempts_end_so_in_two_gigabytes(kind: str) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.support.fuzz", kind, "18", "20000"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-2000:]
    report = json.loads(process.stdout.splitlines()[-1])
    assert not report["unexpected"] and not report["slow"]
    assert report["outcomes"].keys() >= EXPECTED[kind]
    assert report["grown_mib"] <= MOST_GROWTH_MIB


def test_a_fault_is_seen_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError("no such thing")

    monkeypatch.setitem(fuzz.KINDS, "address", broken)
    [fault] = fuzz.run("address", 1, 1).unexpected
    assert fault == "address 1 0: ZeroDivisionError: no such thing"
    with pytest.raises(ZeroDivisionError):
        fuzz.attempt("address 1 0")
