"""Reads a Dockerfile far enough to check it and to start what it starts, without an engine."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PORT = re.compile(r"\b(\d{4,5})\b")
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


@dataclass
class Stage:
    """One FROM with what follows it, as (instruction, argument) pairs."""

    name: str
    base: str
    lines: list[tuple[str, str]] = field(default_factory=list)

    def all(self, instruction: str) -> list[str]:
        return [argument for word, argument in self.lines if word == instruction]

    def last(self, instruction: str) -> str:
        found = self.all(instruction)
        return found[-1] if found else ""

    @property
    def env(self) -> dict[str, str]:
        pairs = [pair for argument in self.all("ENV") for pair in shlex.split(argument)]
        return dict(pair.split("=", 1) for pair in pairs)

    def copies(self) -> Iterator[tuple[list[str], str]]:
        """(sources, destination) of each COPY that takes from the build context."""
        for argument in self.all("COPY"):
            if not argument.startswith("--from="):
                *sources, destination = shlex.split(argument)
                yield sources, destination


def stages(text: str) -> list[Stage]:
    """The stages of a Dockerfile; continuation lines joined, comments dropped."""
    kept = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(kept).replace("\\\n", " ")
    found: list[Stage] = []
    for line in filter(None, map(str.strip, joined.splitlines())):
        word, _, argument = line.partition(" ")
        argument = re.sub(r"\s+", " ", argument.strip())
        if word.upper() == "FROM":
            base, _, name = argument.partition(" AS ")
            found.append(Stage(name, base))
        elif found:
            found[-1].lines.append((word.upper(), argument))
    return found


def exec_form(argument: str) -> list[str]:
    """The words of a command in exec form, ["a", "b"]; empty for the shell form."""
    start = argument.find("[")
    try:
        words = json.loads(argument[start:]) if start >= 0 else []
    except json.JSONDecodeError:
        return []
    return [str(word) for word in words]


def problems(text: str, root: Path) -> list[str]:
    """What is wrong with a Dockerfile whose build context is `root`."""
    found = stages(text)
    if len(found) < 2:
        return ["fewer than two stages"]
    final = found[-1]
    return [
        *(problem for stage in found for problem in _copy_problems(stage, found, root)),
        *_user_problems(final),
        *_start_problems(final),
        *_network_problems(final),
    ]


def _copy_problems(stage: Stage, every: list[Stage], root: Path) -> Iterator[str]:
    if stage.all("ADD"):
        yield f"{stage.name}: ADD may fetch; COPY does not"
    for sources, _ in stage.copies():
        for source in sources:
            if any(sign in source for sign in "*?["):
                yield f"{source}: name each path exactly"
            elif not (root / source).exists():
                yield f"{source} does not exist"
            elif source.endswith("/") != (root / source).is_dir():
                yield f"{source}: a folder is written with a slash, a file without"
            elif not in_context(source, root):
                yield f"{source} is kept out by .dockerignore"
    names = {other.name for other in every}
    for argument in stage.all("COPY"):
        origin = re.match(r"--from=(\S+)", argument)
        if origin and origin[1] not in names:
            yield f"no stage {origin[1]}"


def in_context(source: str, root: Path) -> bool:
    """Whether .dockerignore, which drops all and names exceptions, lets the path through."""
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    return "*" in lines and f"!{source.rstrip('/')}" in lines


def _user_problems(final: Stage) -> Iterator[str]:
    user = final.last("USER").split(":")[0]
    if user in {"", "root", "0"}:
        yield "the final stage runs as root"
    elif not any(f" {user}" in run for run in final.all("RUN")):
        yield f"nothing makes the user {user}"


def _start_problems(final: Stage) -> Iterator[str]:
    command, health = exec_form(final.last("CMD")), exec_form(final.last("HEALTHCHECK"))
    if not command:
        yield "no CMD in exec form"
    if not health:
        yield "no HEALTHCHECK in exec form"
    elif health[0] != "python" or "/healthz" not in health[-1]:
        yield "the health check does not ask the health route with python"
    spoken = (" ".join(command), final.last("EXPOSE"), health[-1] if health else "")
    ports = [PORT.findall(part) for part in spoken]
    if len({tuple(port) for port in ports}) != 1:
        yield f"the ports of CMD, EXPOSE and HEALTHCHECK differ: {ports}"


def _network_problems(final: Stage) -> Iterator[str]:
    yield from (
        f"{name} is not set" for name, value in OFFLINE.items() if final.env.get(name) != value
    )
    for run in final.all("RUN"):
        if re.search(r"\b(pip|apt-get|curl|wget)\b", run):
            yield f"the final stage installs: {run}"
