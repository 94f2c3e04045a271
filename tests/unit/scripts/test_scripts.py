"""The set-up scripts say what is missing and what to do, on machines that lack something.

Each test runs a script with a PATH of stand-ins: programs of a few lines that answer as the missing
or the too old one would, and write down how they were called.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOOLS = ("bash", "dirname", "touch", "id", "env", "chmod")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout with only the scripts, and a folder bin/ that is all of its PATH."""
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, tool
        (tmp_path / "bin" / tool).symlink_to(found)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    return tmp_path


def program(machine: Path, name: str, body: str, folder: str = "bin") -> Path:
    path = machine / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{machine}/bin/bash\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def run(
    machine: Path, script: str, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [str(machine / "scripts" / script), *arguments]
    settings = {"PATH": str(machine / "bin"), "HOME": str(machine), **(env or {})}
    return subprocess.run(command, env=settings, capture_output=True, text=True, timeout=300)


def make_venv(machine: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run(machine, "make_venv", "requirements.txt", "stamp", env=env)


OLD = '[ "$1" = -V ] && echo Python 3.9.2 && exit 0; exit 1'
NO_VENV = 'case "$*" in *ensurepip*) exit 1;; *"-m venv"*) exit 1;; *) exit 0;; esac'
# makes a virtual environment whose python writes its arguments into the file "called"
WORKING = """\
if [ "$1 $2" = "-m venv" ]; then
  /bin/mkdir -p "$4/bin"
  /bin/cp MACHINE/pip-stand-in "$4/bin/python"
fi
exit 0"""


def working(machine: Path) -> str:
    body = f'echo "$*" >> {machine}/called; exit ${{PIP_FAILS:-0}}'
    program(machine, "pip-stand-in", body, folder=".")
    return WORKING.replace("MACHINE", str(machine))


def test_no_python(machine: Path) -> None:
    result = make_venv(machine)
    assert result.returncode == 1
    assert "no 'python3' found" in result.stderr and "make PYTHON=" in result.stderr


def test_an_old_python(machine: Path) -> None:
    program(machine, "python3", OLD)
    result = make_venv(machine)
    assert result.returncode == 1
    assert "Python 3.9.2" in result.stderr and "3.11 or newer is needed" in result.stderr


def test_no_venv_module(machine: Path) -> None:
    program(machine, "python3", NO_VENV)
    result = make_venv(machine)
    assert result.returncode == 1
    assert "apt-get install python3-venv" in result.stderr


def test_a_working_python_gets_the_requirements_and_a_stamp(machine: Path) -> None:
    program(machine, "python3", working(machine))
    result = make_venv(machine, PIP_ARGS="--extra-index-url file:///wheels --pre")
    assert result.returncode == 0, result.stderr
    called = (machine / "called").read_text(encoding="utf-8")
    assert "--extra-index-url file:///wheels --pre -r requirements.txt" in called
    assert (machine / "stamp").exists()


def test_a_failed_install_leaves_no_stamp(machine: Path) -> None:
    program(machine, "python3", working(machine))
    result = make_venv(machine, PIP_FAILS="1")
    assert result.returncode == 1
    assert "pip could not install requirements.txt" in result.stderr
    assert not (machine / "stamp").exists()


def test_another_python_can_be_named(machine: Path) -> None:
    program(machine, "python3", OLD)
    program(machine, "python3.12", working(machine))
    assert make_venv(machine, PYTHON="python3.12").returncode == 0


# --- the browser -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_a_browser_that_is_there_is_used(machine: Path, name: str) -> None:
    browser = program(machine, name, "exit 0")
    result = run(machine, "ensure_browser")
    assert result.stdout == f"{browser}\n" and result.stderr == ""


def test_a_named_browser_comes_first(machine: Path) -> None:
    program(machine, "chromium", "exit 0")
    named = program(machine, "mine", "exit 0", folder="elsewhere")
    assert (
        run(machine, "ensure_browser", env={"ATTNVIZ_CHROMIUM": str(named)}).stdout == f"{named}\n"
    )


def test_a_named_browser_that_is_not_there_is_refused(machine: Path) -> None:
    program(machine, "chromium", "exit 0")
    result = run(machine, "ensure_browser", env={"ATTNVIZ_CHROMIUM": "/gone/chrome"})
    assert result.returncode == 1 and "/gone/chrome is not an executable file" in result.stderr


def as_root(machine: Path) -> None:
    (machine / "bin" / "id").unlink()
    program(machine, "id", "echo 0")


def test_debian_installs_one_for_root(machine: Path) -> None:
    as_root(machine)
    chromium = machine / "bin" / "chromium"
    unpack = f"[ $1 = update ] || /bin/cp {machine}/bin/id {chromium}"
    program(machine, "apt-get", f'echo "$*" >> {machine}/apt; {unpack}')
    result = run(machine, "ensure_browser")
    assert result.stdout == f"{chromium}\n", result.stderr
    update, install = (machine / "apt").read_text(encoding="utf-8").splitlines()
    assert update.startswith("update")
    assert install.endswith("chromium fonts-noto-cjk")


def unpacks(machine: Path, name: str) -> None:
    """An apt-get that writes down its arguments, and installs only this program."""
    body = f'echo "$*" >> {machine}/apt; case "$*" in update*) ;; '
    body += f"*' {name} '*|*' {name}') /bin/cp {machine}/bin/id {machine}/bin/{name} ;; "
    body += "*) exit 100 ;; esac"
    program(machine, "apt-get", body)


def test_tests_prefer_the_headless_shell(machine: Path) -> None:
    program(machine, "chromium", "exit 0")
    quick = program(machine, "chromium-headless-shell", "exit 0")
    assert run(machine, "ensure_browser", "--shell").stdout == f"{quick}\n"
    assert run(machine, "ensure_browser").stdout == f"{machine}/bin/chromium\n"


def test_a_named_browser_comes_before_the_headless_shell(machine: Path) -> None:
    program(machine, "chromium-headless-shell", "exit 0")
    named = program(machine, "mine", "exit 0", folder="elsewhere")
    result = run(machine, "ensure_browser", "--shell", env={"ATTNVIZ_CHROMIUM": str(named)})
    assert result.stdout == f"{named}\n"


def test_root_gets_the_headless_shell_beside_a_browser(machine: Path) -> None:
    as_root(machine)
    program(machine, "chromium", "exit 0")
    unpacks(machine, "chromium-headless-shell")
    result = run(machine, "ensure_browser", "--shell")
    assert result.stdout == f"{machine}/bin/chromium-headless-shell\n", result.stderr
    (install,) = (machine / "apt").read_text(encoding="utf-8").splitlines()
    assert install.endswith("chromium-headless-shell")


def test_root_gets_the_headless_shell_alone_where_there_is_no_browser(machine: Path) -> None:
    as_root(machine)
    unpacks(machine, "chromium-headless-shell")
    result = run(machine, "ensure_browser", "--shell")
    assert result.stdout == f"{machine}/bin/chromium-headless-shell\n", result.stderr


@pytest.mark.parametrize("there", [True, False])
def test_where_no_package_is_the_shell_a_whole_browser_does(machine: Path, there: bool) -> None:
    as_root(machine)
    if there:
        program(machine, "chromium", "exit 0")
    unpacks(machine, "chromium")
    result = run(machine, "ensure_browser", "--shell")
    assert result.stdout == f"{machine}/bin/chromium\n", result.stderr


def test_playwright_is_asked_when_debian_cannot(machine: Path) -> None:
    as_root(machine)
    program(machine, "apt-get", "exit 100")
    body = f'echo "$*" >> "{machine}/called"; [ "$1" = - ] && echo /cache/chrome; exit 0'
    program(machine, "python", body, folder=".venv/bin")
    result = run(machine, "ensure_browser")
    assert result.stdout == "/cache/chrome\n", result.stderr
    assert "playwright install chromium" in (machine / "called").read_text(encoding="utf-8")


def test_no_way_to_a_browser_is_said(machine: Path) -> None:
    program(machine, "python", "exit 1", folder=".venv/bin")
    result = run(machine, "ensure_browser", env={"HOME": os.devnull})
    assert result.returncode == 1 and result.stdout == ""
    assert "ATTNVIZ_CHROMIUM=/path/to/chrome make test" in result.stderr
