"""`python -m attnviz`: the command line, for where the script of that name is not on the path.

In: arguments of the process. Out: its exit code.
"""

from attnviz.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
