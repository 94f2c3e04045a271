"""The command line: a module for each command, `main` wires them together.

`command` says what a command is, `messages` puts the library's errors in words of the command line,
`tables` lays out text. In: arguments. Out: text or JSON on stdout, errors on stderr.
"""
