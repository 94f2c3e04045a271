"""The environment of a child process that reads hostile input.

In: nothing. Out: the few variables that a process needs to start and to read text; no token, key or
setting of the operator is among them.
"""

import os

NEEDED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")


def bare_environment() -> dict[str, str]:
    """The names that a process needs to start and to read text, without all others."""
    return {name: os.environ[name] for name in NEEDED if name in os.environ}
