"""A pytest plugin that reports processor seconds by file: `pytest -p tests.support.cpu_times`.

In: a test run, with or without workers. Out: a table at its end, the most expensive files first.
The cost of a test is the processor time of its process and of all processes below it (app and
browser) from its set-up to its tear-down: a figure that hardly depends on what else the machine
does. Linux only: elsewhere the processes below are not counted.
"""

import os
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

PROPERTY = "cpu_s"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_started: dict[str, float] = {}


def cpu_seconds() -> float:
    """The processor time so far of this process and of every process below it, in seconds."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system + _below(os.getpid())


def _below(root: int) -> float:
    """The processor time of the living processes below `root`, with their ended children."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for pid, fields in _processes():
        parents[pid] = int(fields[1])
        seconds[pid] = sum(map(int, fields[11:15])) / TICKS_PER_S
    return sum(seconds[pid] for pid in parents if pid != root and _is_below(pid, root, parents))


def _processes() -> Iterator[tuple[int, list[str]]]:
    """Each process with the fields of its `/proc/PID/stat` after the name, from the state on."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # ended since the folder was listed
            continue
        yield int(path.parent.name), text.rpartition(")")[2].split()


def _is_below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == root:
            return True
    return False


def pytest_runtest_logstart(nodeid: str) -> None:
    _started[nodeid] = cpu_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown" and item.nodeid in _started:
        report.user_properties.append((PROPERTY, cpu_seconds() - _started.pop(item.nodeid)))
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
