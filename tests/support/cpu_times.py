"""A pytest plugin that reports processor seconds by file: `pytest -p tests.support.cpu_times`.

In: a test run, with or without workers. Out: a table at its end, the most expensive files first.
The cost of a test is the processor time of its process and of all processes below it (app and
browser) from its set-up to its tear-down: a figure that hardly depends on what else the machine
does. Linux only: elsewhere the processes below are not counted.
"""

import os
import threading
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

PROPERTY = "cpu_s"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SAMPLE_S = 0.2  # what a process computes after its last sample is not counted
Process = tuple[int, str]  # its number and its start: numbers are used again


class Meter:
    """The processor time of this process and of all that it started, also of those that ended."""

    def __init__(self) -> None:
        self._below: dict[Process, float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._run, daemon=True).start()

    def seconds(self) -> float:
        """The processor time so far."""
        self._sample()
        own = os.times()
        with self._lock:
            return own.user + own.system + sum(self._below.values())

    def _run(self) -> None:
        pause = threading.Event()
        while not pause.wait(SAMPLE_S):
            self._sample()

    def _sample(self) -> None:
        parents: dict[int, int] = {}
        times: dict[Process, float] = {}
        for pid, fields in _processes():
            parents[pid] = int(fields[1])
            times[pid, fields[19]] = sum(map(int, fields[11:13])) / TICKS_PER_S
        below = {key: time for key, time in times.items() if _is_below(key[0], parents)}
        with self._lock:
            self._below.update(below)


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Each process with the fields of its `/proc/PID/stat` after the name, from the state on."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # ended since the folder was listed
            continue
        yield int(path.parent.name), text.rpartition(")")[2].split()


def _is_below(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == os.getpid():
            return True
    return False


_meter = Meter()
_started: dict[str, float] = {}


def pytest_runtest_logstart(nodeid: str) -> None:
    _started[nodeid] = _meter.seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown" and item.nodeid in _started:
        report.user_properties.append((PROPERTY, _meter.seconds() - _started.pop(item.nodeid)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seconds: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == PROPERTY and getattr(report, "when", "") == "teardown":
                    seconds[report.nodeid.split("::")[0]] += value
                    counts[report.nodeid.split("::")[0]] += 1
    terminalreporter.section("processor seconds by file")
    terminalreporter.line(f"{sum(seconds.values()):8.1f}  {sum(counts.values()):5d} tests in all")
    for file, value in sorted(seconds.items(), key=lambda pair: -pair[1]):
        terminalreporter.line(f"{value:8.1f}  {counts[file]:5d}  {file}")
