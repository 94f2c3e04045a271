"""`attnviz check`: the figures on the card of an embedded model, measured again.

In: the model's name. Out: each figure with its target on stdout; exit code 1 if one misses it.
"""

import argparse

from attnviz.cli.command import Command


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("name", metavar="NAME", help="an embedded model, e.g. stories")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the figures."""
    from attnviz.checks import check

    figures = check(arguments.name)
    print("\n".join(map(str, figures)))
    return 0 if all(figure.reached for figure in figures) else 1


COMMAND = Command(
    name="check",
    group="learn and check",
    usage="NAME",
    help="measure what the card of an embedded model claims",
    examples=("attnviz check dates",),
    declare=declare,
    run=run,
)
