"""Lets the shape checks compile attnviz anew and nothing else.

jaxtyping's import hook reads an instrumented module from bytecode of its own. While that module is
executed, it does the same with every module imported from there, so that torch and transformers are
compiled again: 12 s of processor time in each process where Python may write no bytecode, else in
the first run.
"""

import importlib.util
import os
from pathlib import Path

from jaxtyping import _import_hook

PACKAGE = str(Path(__file__).parent.parent.parent / "attnviz") + os.sep
_of_the_hook = _import_hook._optimized_cache_from_source
_of_python = importlib.util.cache_from_source


def use_python_bytecode_elsewhere() -> None:
    """Make the import hook use its own bytecode for the files of attnviz only."""
    _import_hook._optimized_cache_from_source = _bytecode_path


def _bytecode_path(checker: str, /, path: str, debug_override: bool | None = None) -> str:
    """The file with the bytecode of the module at `path`."""
    if str(path).startswith(PACKAGE):
        return str(_of_the_hook(checker, path, debug_override))
    return _of_python(path, debug_override)
