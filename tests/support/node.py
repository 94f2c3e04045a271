"""Node, for tests of JavaScript that needs no page: a module is imported as it is, in milliseconds.

In: an asynchronous function as text, and a value that JSON can hold. Out: what it returns. Where
Node is missing the tests are skipped ("no Node" in tests/README.md).
"""

import json
import shutil
import subprocess
from typing import Any

import pytest

from attnviz.pictures.shared.bundle import FOLDER

LIMIT_S = 60.0
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="no Node")
PROGRAM = """
import { readFileSync, writeFileSync } from "node:fs";
const load = (name) => import(FOLDER + name);
const answer = await (FUNCTION)(JSON.parse(readFileSync(0, "utf8")));
writeFileSync(1, JSON.stringify(answer));
"""


def in_node(function: str, value: object = None) -> Any:
    """The answer of `async (value) => …`, in which `load("head/words.js")` imports a component's.

    A number that JSON cannot hold comes back as None, an error of JavaScript as `AssertionError`.
    """
    folder = json.dumps(f"{FOLDER.as_uri()}/")
    program = PROGRAM.replace("FOLDER", folder).replace("FUNCTION", function)
    result = subprocess.run(
        ["node", "--input-type=module", "--eval", program],
        input=json.dumps(value, allow_nan=False),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LIMIT_S,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
