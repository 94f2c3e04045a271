"""The program `attnviz`: it finds the command, runs it, and says in one line what went wrong.

In: the arguments of the process. Out: its exit code. The library's messages name Python arguments
(`pass cut=True`); here they name options (`pass --cut`). Neither torch nor streamlit is imported
before a command needs it, so that ``--help`` answers at once.
"""

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence

import attnviz
from attnviz.cli import (
    app,
    capture,
    check,
    compare,
    completion,
    effects,
    live,
    models,
    save,
    show,
    survey,
    worksheet,
)
from attnviz.cli.command import HelpFormat, Refused, examples, overview
from attnviz.errors import AttnVizError

ARGUMENT = re.compile(r"""\b([a-z_]+)=('[^']*'|"[^"]*"|[\w.]*)""")
CALL = re.compile(r"\b(capture|load|save)\(\)")
SAME_NAMES = (
    "target image sound generate chat cut keep device dtype revision head kind stack batch least"
    " view scale cells title heads lang live"
)
OPTIONS = {
    "text_pair": "--pair",
    "width_in": "--width",
    "size_pt": "--size",
    "with_weights": "--with-weights",
    "with_outputs": "--with-outputs",
    **{name: f"--{name}" for name in SAME_NAMES.split()},
}
HALF = "dtype='float16'"  # of a file; a model's own type is never quoted in a message
CALLS = {"capture": "attnviz capture", "load": "--model", "save": "attnviz save"}
COMMANDS = {
    command.name: command
    for command in (
        app.COMMAND,
        capture.COMMAND,
        save.COMMAND,
        live.COMMAND,
        show.COMMAND,
        compare.COMMAND,
        effects.COMMAND,
        survey.COMMAND,
        models.COMMAND,
        worksheet.COMMAND,
        check.COMMAND,
        completion.COMMAND,
    )
}
EXIT_CODES = """exit codes:
  0  done
  1  done, but numbers differ from the model's own or miss their target: do not trust them
  2  the command cannot be run; the reason is on stderr"""
FAILED = 2
STOPPED = 130  # as a shell reports Ctrl+C
READER_GONE = 141  # as a shell reports a broken pipe


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code of the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    arguments = _parsed(argv)
    try:
        code = COMMANDS[arguments.command].run(arguments)
        sys.stdout.flush()
        return code
    except (AttnVizError, Refused) as error:
        print(f"attnviz: {in_words_of_the_command_line(str(error))}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        # its reader has ended: what is still in the buffer of stdout goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; what a command does not know is refused with its own usage."""
    top = parser()
    arguments, unknown = top.parse_known_args(argv)
    if unknown:
        commands = next(action for action in top._actions if action.dest == "command")
        command = dict(commands.choices or {})[arguments.command]
        command.error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = argparse.ArgumentParser(
        prog="attnviz",
        usage="attnviz [-h] [--version] COMMAND ...",
        description="See every attention head of a transformer, and every step of its computation."
        f"\n\n{overview(COMMANDS.values())}\n\n`attnviz COMMAND --help` explains a command.",
        epilog=EXIT_CODES,
        formatter_class=HelpFormat,
    )
    top.add_argument("--version", action="version", version=f"attnviz {attnviz.__version__}")
    top.set_defaults(parser=top)  # the command `completion` tells of all of them
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    subparsers.help = argparse.SUPPRESS  # the overview lists the commands
    for command in COMMANDS.values():
        subparser = subparsers.add_parser(
            command.name,
            prog=f"attnviz {command.name}",
            usage=f"attnviz {command.name} {command.usage}".rstrip(),
            description=f"{command.help[0].upper()}{command.help[1:]}.",
            epilog=examples(command.examples),
            formatter_class=HelpFormat,
        )
        command.declare(subparser)
        subparser.set_defaults(about=command.help)
    return top


def in_words_of_the_command_line(message: str) -> str:
    """The message with the options of `attnviz capture` in place of arguments of the library.

    >>> in_words_of_the_command_line("give target=, or generate=N to let it write one")
    'give --target, or --generate N to let it write one'
    """
    options = ARGUMENT.sub(_option, message.replace(HALF, "--half"))
    return CALL.sub(lambda match: CALLS[match[1]], options)


def _option(argument: re.Match[str]) -> str:
    name, value = argument.groups()
    if name == "text":
        return "a text"
    if name not in OPTIONS:
        return f"{argument[0]} (in Python)"
    shown = value.strip("'\"")
    return OPTIONS[name] + (f" {shown}" if shown not in ("", "True") else "")
