"""A model in parts on two processes, beside the same model in one: captures, changes, bad requests.

Two processes of torchrun run `tests.support.on_ranks`; its findings are compared here.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import attnviz
from attnviz.errors import BadInput

KINDS = ("llama", "qwen3", "gpt-oss")
SAME = 1e-5  # sums in another order
MOVES = 1e-2
LIMIT_S = 240


@cache
def found(kind: str) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "found.json")
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command += ["--nproc-per-node", "2", "-m", "tests.support.on_ranks", kind, str(path)]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=LIMIT_S
        )
        assert ended.returncode == 0, ended.stderr[-3000:]
        result: dict[str, Any] = json.loads(path.read_text())
        return result


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_heads_of_all_processes_are_recorded_under_their_numbers(kind: str) -> None:
    result = found(kind)
    assert result["heads"] == [6, 6]
    assert all(error <= SAME for error in result["stages"].values()), result["stages"]
    assert result["verified"] and result["uncovered"]
    assert result["written"] <= SAME


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_heads_that_are_kept_alone_have_their_numbers_among_all(kind: str) -> None:
    kept = found(kind)["kept"]
    assert kept["heads"] == [[0, [4], 6], [1, [1, 5], 6]]
    assert all(error <= SAME for error in kept["stages"].values()), kept["stages"]
    assert kept["verified"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_change_acts_on_the_head_that_it_names(kind: str) -> None:
    changes = found(kind)["changes"]
    assert len(changes) == 11
    for name, (error, effect) in changes.items():
        assert error <= SAME < MOVES <= effect, (name, error, effect)


@pytest.mark.slow
def test_a_bad_request_ends_alone() -> None:
    result = found("llama")
    expected = {
        "id": "bad_inputs",
        "head": "no_site",
        "in the second layer": "MemoryError",
        "given up": "TimeoutError",
        "the model's own": "RuntimeError",
        "gradient": "spread_gradient",
        "one layer alone": "spread_part",
        "experiment": "spread_part",
        "circuits": "spread_part",
        "static cache": "spread_argument",
    }
    assert {name: result[name] for name in expected} == {
        name: [code, True] for name, code in expected.items()
    }


@pytest.mark.slow
def test_whatever_runs_the_model_runs_it_on_all_processes() -> None:
    result = found("llama")
    assert result["cache"] <= SAME
    assert result["recorded"] == [6, 6]
    assert result["changed"] <= SAME
    assert result["threads"] == [True] * 4
    assert result["saved"] == [0, True]


def test_a_model_that_is_not_in_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="no layer in parts on several processes"):
        attnviz.load(attnviz.load("minilm").model, tensor_parallel=True)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with pytest.raises(Exception, match="torchrun|accelerate"):
        attnviz.load("minilm", tensor_parallel=True)
