"""`scripts/link_command`: after it, the command of the checkout runs from any folder."""

import subprocess
import venv
from pathlib import Path

import attnviz
from tests.contracts import project


def test_link_command_makes_a_command_that_runs_anywhere(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    venv.create(folder, with_pip=False, symlinks=True)
    subprocess.run([project.ROOT / "scripts" / "link_command", folder], check=True, timeout=300)
    result = subprocess.run(
        [folder / "bin" / "attnviz", "--version"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert result.stdout == f"attnviz {attnviz.__version__}\n"
