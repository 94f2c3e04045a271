"""`attnviz completion`: a script with which a shell completes our commands and options at TAB.

In: the name of a shell. Out: the script on stdout. It holds the commands, options and names that
there are now, so that completing starts no Python; it is written from the parser itself.
"""

import argparse
from collections.abc import Iterator, Mapping

import attnviz
from attnviz.cli.command import Command

SHELLS = ("bash", "zsh", "fish")
Option = argparse.Action


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(script(arguments.shell, arguments.parser))
    return 0


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The completion script of a shell."""
    if shell == "fish":
        return "\n".join(_fish(parser))
    bash = "\n".join(_bash(parser))
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash}" if shell == "zsh" else bash


def _commands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """The parser of each command."""
    for action in parser._actions:  # argparse has no public way to them
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _values(action: Option) -> list[str]:
    """The words that may follow an option, where they are known; those of an argument, too."""
    if action.dest == "model":
        return [card.name for card in attnviz.models()]
    return list(map(str, action.choices or ()))


def _bash(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A function for bash, which zsh understands as well."""
    commands = _commands(parser)
    yield "_attnviz() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""'
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f'    words="{" ".join(commands)} --help --version"'
    yield "  else"
    yield '    case "${COMP_WORDS[1]}:$before" in'
    for name, command in commands.items():
        for action in command._actions:
            if action.option_strings and (values := _values(action)):
                patterns = "|".join(f"{name}:{option}" for option in action.option_strings)
                yield f'      {patterns}) words="{" ".join(values)}" ;;'
    for name, command in commands.items():
        options = [option for action in command._actions for option in action.option_strings]
        places = [value for a in command._actions if not a.option_strings for value in _values(a)]
        yield f'      {name}:*) words="{" ".join(places)}"'
        yield f'        case "$word" in -*) words="{" ".join(options)}" ;; esac ;;'
    yield "    esac"
    yield "  fi"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield "complete -o default -F _attnviz attnviz"  # files where nothing else fits


def _fish(parser: argparse.ArgumentParser) -> Iterator[str]:
    """A line for each command, option and value."""
    for name, command in _commands(parser).items():
        about = _quoted(command.get_default("about"))
        yield f"complete -c attnviz -n __fish_use_subcommand -a {name} -d {about}"
        here = f'complete -c attnviz -n "__fish_seen_subcommand_from {name}"'
        for action in command._actions:
            values = " ".join(_values(action))
            if action.option_strings:
                names = " ".join(map(_fish_option, action.option_strings))
                takes = "" if action.nargs == 0 else " -r"
                allowed = f" -f -a {_quoted(values)}" if values else ""
                yield f"{here} {names}{takes}{allowed} -d {_quoted(action.help or '')}"
            elif values:
                yield f"{here} -f -a {_quoted(values)}"


def _fish_option(option: str) -> str:
    return f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


COMMAND = Command(
    name="completion",
    group="learn and check",
    usage="SHELL",
    help="print a script that lets a shell complete commands at TAB",
    examples=(
        "attnviz completion bash > ~/.local/share/bash-completion/completions/attnviz",
        "attnviz completion fish > ~/.config/fish/completions/attnviz.fish",
    ),
    declare=declare,
    run=run,
)
