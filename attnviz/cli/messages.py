"""The library's error messages in words of the command line.

In: a message that names Python arguments (`pass cut=True`). Out: the same with options
(`pass --cut`).
"""

import re

ARGUMENT = re.compile(r"\b([a-z_]+)=('[^']*'|[\w.]*)")
CALL = re.compile(r"\b(capture|load|save)\(\)")
SAME_NAMES = (
    "target image sound generate chat cut device dtype revision at kind stack batch least view"
    " scale cells title heads lang"
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
    shown = value.strip("'")
    return OPTIONS[name] + (f" {shown}" if shown not in ("", "True") else "")
