"""The libraries of a server: one thread of arithmetic for each page that runs."""

import os
import subprocess
import sys

import pytest

from attnviz.app.server.loading import OMP_VARIABLE

# transformers is left out, for it takes seconds; OpenMP belongs to torch
CODE = """
import ctypes, pathlib, sys, threading, types
for name in ("attnviz.models.from_folder", "attnviz.capture.run"):
    sys.modules[name] = types.ModuleType(name)
from attnviz.app.server import loading
loading.import_libraries()
maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
openmp = ctypes.CDLL(next(line.split()[-1] for line in maps if "omp" in line.split("/")[-1]))
page = threading.Thread(target=lambda: print(openmp.omp_get_max_threads()))
page.start()
page.join()
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_page_in_a_new_thread_computes_with_one_thread() -> None:
    env = {name: value for name, value in os.environ.items() if name != OMP_VARIABLE}
    command = [sys.executable, "-c", CODE]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert int(ran.stdout) == 1
