"""`attnviz worksheet`: a lesson on paper, with its answer key.

In: the lesson, a language and the number of the sheet. Out: a web page on stdout, ready to print.
"""

import argparse
import io
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import attnviz
from attnviz import i18n
from attnviz.cli.command import Command
from attnviz.errors import require_package

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("lesson", metavar="LESSON", help="the lesson's name, e.g. block")
    parser.add_argument(
        "--lang",
        choices=i18n.LANGUAGES,
        default=i18n.DEFAULT,
        metavar="LANG",
        help=f"language: {', '.join(i18n.LANGUAGES)} ({i18n.DEFAULT})",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="sheet number, each with numbers of its own; 0: the numbers on screen (1)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the page."""
    require_package("markdown_it", "a worksheet", "app")
    from attnviz.models.loader import load
    from attnviz.teach.course.paper import sheet

    loaded = cache(load)

    def capture(model: str, *texts: Any, **options: Any) -> "Capture":
        return attnviz.capture(loaded(model), *texts, **options)

    page = sheet(arguments.lesson, arguments.lang, arguments.seed, capture)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # the encoding that the page declares
    print(page)
    return 0


COMMAND = Command(
    name="worksheet",
    group="learn and check",
    usage="LESSON [--lang LANG] [--seed N]",
    help="print a lesson as a web page, with its answer key",
    examples=(
        "attnviz worksheet block > block.html",
        "attnviz worksheet block --lang ja --seed 7 > block-7.html",
    ),
    declare=declare,
    run=run,
)
