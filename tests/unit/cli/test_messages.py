"""`in_words_of_the_command_line`: no message of the library asks for a Python argument."""

import pytest

from attnviz.cli.main import in_words_of_the_command_line


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("shorten it, or pass cut=True to keep", "shorten it, or pass --cut to keep"),
        ("give target=, or generate=N to let it", "give --target, or --generate N to let it"),
        ("give text= and chat=True", "give a text and --chat"),
        ("leave chat= out", "leave --chat out"),
        ("image= is an empty list", "--image is an empty list"),
        ("text_pair= is not used", "--pair is not used"),
        ("capture() was given a sound", "attnviz capture was given a sound"),
        ("load it with tokenizer=", "load it with tokenizer= (in Python)"),
        ("name one with head='L5.H11', one", "name one with --head L5.H11, one"),
        ("or leave least=0.01 out", "or leave --least 0.01 out"),
        ("capture again without keep=", "capture again without --keep"),
        ('a shorter text, store="float16", or', 'a shorter text, store="float16" (in Python), or'),
        ("save it with dtype='float16'", "save it with --half"),
        ("layer 9 does not exist: give 0 to 5", "layer 9 does not exist: give 0 to 5"),
    ],
)
def test_arguments_become_options(message: str, expected: str) -> None:
    assert in_words_of_the_command_line(message) == expected
