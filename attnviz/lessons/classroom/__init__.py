"""A class that follows its presenter: who is in the room, and how it answered.

`room` is one class, `rooms` all classes of a server, `tally` how answers are spread.
"""
