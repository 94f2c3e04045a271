"""The library's error messages in words of the command line.

In: a message that names Python arguments (`pass cut=True`). Out: the same with options
(`pass --cut`).
"""

import re

ARGUMENT = re.compile(r"\b([a-z_]+)=(\w*)")
CALL = re.compile(r"\b(capture|load)\(\)")
OPTIONS = {
    "text_pair": "--pair",
    **{
        name: f"--{name}"
        for name in "target image sound generate chat cut device dtype revision".split()
    },
}
CALLS = {"capture": "attnviz capture", "load": "--model"}


def in_words_of_the_command_line(message: str) -> str:
    """The message with the options of `attnviz capture` in place of arguments of the library.

    >>> in_words_of_the_command_line("give target=, or generate=N to let it write one")
    'give --target, or --generate N to let it write one'
    """
    return CALL.sub(lambda match: CALLS[match[1]], ARGUMENT.sub(_option, message))


def _option(argument: re.Match[str]) -> str:
    name, value = argument.groups()
    if name == "text":
        return "a text"
    if name not in OPTIONS:
        return f"{argument[0]} (in Python)"
    return OPTIONS[name] + (f" {value}" if value not in ("", "True") else "")
