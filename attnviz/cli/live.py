"""`attnviz live`: a site on which models run in the reader's browser.

In: a folder, names or folders of models. Out: the site, and the name of its first page on stdout.
Any web space can serve it; no server of ours is needed.
"""

import argparse
from pathlib import Path

from attnviz import i18n
from attnviz.cli.command import Command, Refused
from attnviz.cli.output import json_line


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", metavar="FOLDER", help="where the site is written")
    parser.add_argument(
        "--model",
        action="append",
        metavar="MODEL",
        help="a name, or a folder with weights; again for more, the first one opens (all embedded)",
    )
    parser.add_argument("--text", metavar="TEXT", help="the text that the first model opens with")
    parser.add_argument(
        "--lang",
        action="append",
        choices=i18n.LANGUAGES,
        metavar="LANG",
        help=f"a language, again for more: {', '.join(i18n.LANGUAGES)} (all)",
    )
    parser.add_argument("--overwrite", action="store_true", help="write into a folder with files")
    parser.add_argument("--json", action="store_true", help="print JSON about what was written")


def run(arguments: argparse.Namespace) -> int:
    """Write the site, and print its first page."""
    folder = Path(arguments.folder)
    if not arguments.overwrite and folder.is_dir() and any(folder.iterdir()):
        raise Refused(f"{folder} has files; add --overwrite to write beside them, or give another")
    from attnviz.live.model import live_model
    from attnviz.live.site import write_site

    names = arguments.model or embedded()
    languages = tuple(dict.fromkeys(arguments.lang or i18n.LANGUAGES))
    models = [
        live_model(name, arguments.text if place == 0 else None, languages)
        for place, name in enumerate(names)
    ]
    first = write_site(folder, models, languages)
    n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if arguments.json:
        print(json_line({"file": str(first), "bytes": n_bytes, "models": [m.name for m in models]}))
    else:
        print(f"{first}: {len(models)} models, {n_bytes:,} bytes")
    return 0


def embedded() -> list[str]:
    """The registered models that read a text or a picture; one that is small and writes opens."""
    from attnviz.models.registry import REGISTRY, BuiltModel  # loads numpy

    names = [name for name, entry in REGISTRY.items() if not isinstance(entry, BuiltModel)]
    return sorted(names, key=lambda name: name != "stories")


COMMAND = Command(
    name="live",
    group="look at attention",
    usage="FOLDER [--model MODEL ...] [options]",
    help="write a site on which models run in the reader's browser",
    examples=(
        "attnviz live site",
        "attnviz live site --model stories --model sentiment --lang en",
        'attnviz live site --model ./my-gpt2 --text "Once upon a time"',
    ),
    declare=declare,
    run=run,
)
