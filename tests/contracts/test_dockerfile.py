"""The Dockerfile copies what exists, runs without rights or network, and its command works.

No engine is needed: the file is read, its final stage is laid out in a folder, and its own command
and health check are run there with this environment's Python on a free port.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts import dockerfile, project
from tests.support import server
from tests.support.waiting import expect_true

TEXT = project.read(project.ROOT / "Dockerfile")
FINAL = dockerfile.stages(TEXT)[-1]


def test_the_dockerfile_is_sound() -> None:
    assert not dockerfile.problems(TEXT, project.ROOT)


SPOILT = [
    ("COPY pages/ pages/", "COPY gone/ gone/", "gone/ does not exist"),
    ("COPY pages/ pages/", "COPY pages pages/", "pages: a folder is written with a slash"),
    ("COPY pages/ pages/", "COPY page* pages/", "page*: name each path exactly"),
    ("COPY pages/ pages/", "COPY tests/ tests/", "tests/ is kept out by .dockerignore"),
    ("COPY pages/ pages/", "ADD pages/ pages/", "runtime: ADD may fetch"),
    ("--from=builder", "--from=bilder", "no stage bilder"),
    ("USER attnviz", "", "the final stage runs as root"),
    ("USER attnviz", "USER root", "the final stage runs as root"),
    ("USER attnviz", "USER somebody", "nothing makes the user somebody"),
    ("HEALTHCHECK", "LABEL", "no HEALTHCHECK in exec form"),
    ("healthz", "elsewhere", "the health check does not ask"),
    ("--server.port=8501", "--server.port=8502", "the ports of CMD"),
    ("EXPOSE 8501", "EXPOSE 80", "the ports of CMD"),
    ('CMD ["python", "-m"', 'CMD python -m "', "no CMD in exec form"),
    ("HF_HUB_OFFLINE=1", "HF_HUB_OFFLINE=0", "HF_HUB_OFFLINE is not set"),
    ("RUN useradd", "RUN pip install x && useradd", "the final stage installs"),
    ("FROM ${PYTHON_IMAGE} AS runtime", "", "fewer than two stages"),
]


@pytest.mark.parametrize(("old", "new", "problem"), SPOILT)
def test_a_spoilt_dockerfile_is_found(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    found = dockerfile.problems(TEXT.replace(old, new), project.ROOT)
    assert any(line.startswith(problem) for line in found), found


@pytest.mark.skipif(not (project.ROOT / ".git").exists(), reason="not a git checkout")
def test_copied_paths_are_under_version_control() -> None:
    for sources, _ in FINAL.copies():
        for source in sources:
            command = ["git", "ls-files", "--error-unmatch", source]
            result = subprocess.run(command, cwd=project.ROOT, capture_output=True, text=True)
            assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the final stage copies, and nothing else."""
    target = tmp_path_factory.mktemp("image")
    for sources, destination in FINAL.copies():
        for source in sources:
            origin = project.ROOT / source
            if origin.is_dir():
                shutil.copytree(
                    origin, target / destination, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                place = target / destination / (origin.name if destination.endswith("/") else "")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(origin, place)
    return target


def here(words: list[str], port: int) -> list[str]:
    """The command as this environment runs it: our Python, a free port, this machine only."""
    assert words[0] == "python"
    translated = [word.replace("8501", str(port)).replace("0.0.0.0", "127.0.0.1") for word in words]
    return [sys.executable, *translated[1:]]


@pytest.mark.slow
def test_its_command_starts_the_app_and_its_health_check_sees_it(image: Path) -> None:
    port = server.free_port()
    command = here(dockerfile.exec_form(FINAL.last("CMD")), port)
    health = here(dockerfile.exec_form(FINAL.last("HEALTHCHECK")), port)
    env = {name: value for name, value in FINAL.env.items() if name != "PATH"}
    assert subprocess.run(health, capture_output=True).returncode != 0, "healthy without a server"
    with server.serve(port, command, cwd=image, env=env):  # healthy once the first picture is there
        expect_true(lambda: subprocess.run(health, capture_output=True).returncode == 0)


def test_an_image_without_its_entry_does_not_get_healthy(image: Path, tmp_path: Path) -> None:
    shutil.copytree(image, tmp_path / "broken")
    (tmp_path / "broken" / "app.py").unlink()
    port = server.free_port()
    command = here(dockerfile.exec_form(FINAL.last("CMD")), port)
    with (
        pytest.raises(AssertionError, match="the server ended with code"),
        server.serve(port, command, cwd=tmp_path / "broken"),
    ):
        pass
