"""`use_python_bytecode_elsewhere`: only attnviz is compiled with shape checks."""

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch
from jaxtyping._import_hook import Typechecker, _JaxtypingLoader

from attnviz.attention import formula

PROBE = "import importlib._bootstrap_external as external\nread = {}\n"
ASK = "for name in {files}:\n    read[name] = external.cache_from_source(name)\n"


def bytecode_during_an_import(tmp_path: Path, *files: str) -> list[str]:
    """Where Python looks for the bytecode of these files while a checked module is imported."""
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE + ASK.format(files=files), encoding="utf-8")
    loader = _JaxtypingLoader("probe", str(probe), typechecker=Typechecker("beartype.beartype"))
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("probe", loader))
    loader.exec_module(module)
    return [module.read[file] for file in files]


@pytest.mark.parametrize(("module", "checked"), [(formula, True), (torch, False)])
def test_only_attnviz_is_read_from_bytecode_with_checks(
    tmp_path: Path, module: ModuleType, checked: bool
) -> None:
    [bytecode] = bytecode_during_an_import(tmp_path, str(module.__file__))
    assert ("jaxtyping" in bytecode) == checked
