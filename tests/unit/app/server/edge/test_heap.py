"""The heap of a server: many threads that allocate share few arenas."""

import os
import platform
import subprocess
import sys

import pytest

from attnviz.app.server.edge import heap
from tests.support.server import ROOT

# eight threads hold a block each while the arenas are counted in glibc's own report
COUNT = """
import ctypes, sys, tempfile, threading
from attnviz.app.server.edge import heap
if sys.argv[1] == "bounded":
    heap.keep_few_arenas()
libc, all_have = ctypes.CDLL("libc.so.6"), threading.Barrier(9)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
def hold():
    libc.malloc(1000)
    all_have.wait()
    all_have.wait()
for _ in range(8):
    threading.Thread(target=hold).start()
all_have.wait()
with tempfile.NamedTemporaryFile() as report:
    file = libc.fopen(report.name.encode(), b"w")
    libc.malloc_info(0, ctypes.c_void_p(file))
    libc.fclose(ctypes.c_void_p(file))
    print(report.read().count(b"<heap nr="))
all_have.wait()
"""


def arenas(how: str, **env: str) -> int:
    inherited = {name: value for name, value in os.environ.items() if name != heap.VARIABLE}
    answer = subprocess.run(
        [sys.executable, "-c", COUNT, how],
        cwd=ROOT,
        env=inherited | env,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(answer.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are glibc's")
def test_threads_share_few_arenas_unless_the_operator_says_otherwise() -> None:
    assert arenas("free") > heap.MAX_ARENAS
    assert arenas("bounded") == heap.MAX_ARENAS
    assert arenas("bounded", **{heap.VARIABLE: "4"}) == 4


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "LIBRARY", "libc.so.none")
    heap.keep_few_arenas()
    heap.give_back()
    with pytest.raises(OSError):
        heap._library()
