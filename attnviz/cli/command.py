"""The form of a command, and how its help is laid out.

In: a parser. Out: a parser that knows the arguments of one command, with examples below them.
"""

import argparse
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Command(NamedTuple):
    """One command of `attnviz`.

    `group` is the heading under which the command is listed, `usage` what may follow its name,
    `help` a line without a full stop, `examples` are whole command lines. `declare` adds the
    arguments to a parser; `run` takes the parsed arguments and returns the exit code.
    """

    name: str
    group: str
    usage: str
    help: str
    examples: tuple[str, ...]
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


class Refused(Exception):
    """Raised when a command cannot do what was requested; the message says what to do instead."""


class HelpFormat(argparse.RawDescriptionHelpFormatter):
    """Help whose options stand in one column, and whose examples are left as they are written."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)


def examples(lines: Iterable[str]) -> str:
    """The examples as the last paragraph of a help text."""
    return "examples:\n" + "\n".join(f"  {line}" for line in lines)


def overview(commands: Iterable[Command]) -> str:
    """The commands with a line each, below the headings of their groups."""
    groups: dict[str, list[str]] = {}
    for command in commands:
        groups.setdefault(command.group, []).append(f"  {command.name:<11}{command.help}")
    return "\n\n".join(f"{group}:\n" + "\n".join(lines) for group, lines in groups.items())
