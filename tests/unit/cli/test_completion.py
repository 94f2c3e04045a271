"""`attnviz completion`: a shell completes the commands, options and names that there are."""

import shutil
import subprocess

import pytest

import attnviz
from attnviz.cli import completion, main

BASH = shutil.which("bash")
ASK = """
COMP_WORDS=({words})
COMP_CWORD=$(({n} - 1))
_attnviz
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def completed(*words: str) -> list[str]:
    """What bash offers for the last word."""
    quoted = " ".join(f"'{word}'" for word in ("attnviz", *words))
    script = completion.script("bash", main.parser())
    code = script + ASK.format(words=quoted, n=len(words) + 1)
    assert BASH
    result = subprocess.run([BASH, "-c", code], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0 and not result.stderr, result.stderr
    return result.stdout.split()


@pytest.mark.skipif(BASH is None, reason="needs bash")
def test_bash_completes_commands_options_and_values() -> None:
    assert completed("ca") == ["capture"]
    assert completed("save", "--with") == ["--with-weights", "--with-outputs"]
    assert completed("capture", "--model", "stor") == ["stories", "stories-llama"]
    assert completed("worksheet", "block", "--lang", "j") == ["ja"]
    assert completed("completion", "") == ["bash", "zsh", "fish"]
    assert completed("save", "x") == []


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_every_command_and_option_is_in_the_script(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    parsers = completion._commands(main.parser())
    assert list(parsers) == list(main.COMMANDS)
    options = {
        option
        for parser in parsers.values()
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--")
    }
    wanted = {f"-l {option[2:]}" for option in options} if shell == "fish" else options
    assert len(wanted) > 30
    assert not [word for word in (*parsers, *wanted) if word not in script]
    assert all(card.name in script for card in attnviz.models())


def test_zsh_takes_the_function_of_bash() -> None:
    script = completion.script("zsh", main.parser())
    assert script.startswith("autoload") and "bashcompinit" in script.splitlines()[0]
