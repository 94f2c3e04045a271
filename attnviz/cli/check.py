"""`attnviz check`: the figures on the card of an embedded model, measured again.

In: the model's name. Out: each figure with its target on stdout; exit code 1 if one misses it.
"""

import argparse

from attnviz.cli.command import Command
from attnviz.cli.output import json_line


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("name", metavar="NAME", help="an embedded model, e.g. stories")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the figures."""
    from attnviz.checks import check

    figures = check(arguments.name)
    if arguments.json:
        from dataclasses import asdict

        print(json_line([asdict(figure) | {"reached": figure.reached} for figure in figures]))
    else:
        print("\n".join(map(str, figures)))
    return 0 if all(figure.reached for figure in figures) else 1


COMMAND = Command(
    name="check",
    group="learn and check",
    usage="NAME [--json]",
    help="measure what the card of an embedded model claims",
    examples=("attnviz check dates",),
    declare=declare,
    run=run,
)
