"""The command line: `main` declares and runs the commands, `tables` lays out text.

In: arguments. Out: text or JSON on stdout; errors on stderr with exit code 2.
"""
