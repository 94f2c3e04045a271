"""A class that follows its presenter: its members, its stage, its answers.

`room` is one class, `rooms` all classes of a server, `tally` counts the answers to a card. `bounds`
has the limits of a server's classes.
"""
