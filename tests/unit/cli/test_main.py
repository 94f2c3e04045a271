"""`main`: what the program explains, refuses in one line, and survives."""

import subprocess
import sys

import pytest

import attnviz
from attnviz.cli import main

TEXT = "The cat sat"


def help_of(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main.main([*arguments, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_main_lists_every_command_below_a_heading(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(capsys=capsys)
    for command in main.COMMANDS.values():
        heading, line = f"\n{command.group}:\n", f"  {command.name:<11}{command.help}\n"
        assert heading in text and line in text
        assert text.index(heading) < text.index(line)


@pytest.mark.parametrize("name", main.COMMANDS)
def test_a_command_explains_itself_with_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, text = main.COMMANDS[name], help_of(name, capsys=capsys)
    assert text.startswith(f"usage: attnviz {name}")
    assert command.help[1:] in text
    assert command.examples
    for example in command.examples:
        assert f"  {example}\n" in text
        assert example.startswith(f"attnviz {name}")


SLOW_TO_IMPORT = (
    "torch",
    "numpy",
    "dataclasses",
    "importlib.resources",
    "tomllib",
    "json",
    "socket",
)


def test_help_imports_nothing_that_it_does_not_need() -> None:
    """The start of `--help` is held to 80 ms of CPU time, of which Python itself takes 10."""
    code = f"""
import sys
from attnviz.cli import main
try:
    main.main(["--help"])
except SystemExit:
    print([name for name in {SLOW_TO_IMPORT} if name in sys.modules], file=sys.stderr)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300
    )
    assert "attnviz save" not in result.stderr and result.stderr.strip() == "[]"


def test_main_prints_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"attnviz {attnviz.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["capture", ""], "text"),
        (["capture", "   "], "text"),
        (["capture", TEXT, "--model", "nonsense"], "minilm"),
        (["capture", TEXT, "--layer", "6"], "6"),
        (["capture", TEXT, "--head", "-1"], "-1"),
        (["capture", TEXT, "--kind", "cross"], "self"),
        (["capture", TEXT, "--device", "nowhere"], "nowhere"),
        (["capture", TEXT, "--dtype", "int3"], "bfloat16"),
        (["capture", TEXT, "--target", "Other"], "encoder-decoder"),
        (["capture", "--model", "shapes", "--image", "nowhere.png"], "nowhere.png"),
        (["capture", "--model", "shapes", "--image", __file__], "PNG or JPEG"),
        (["capture", "--sound", __file__], "WAV"),
        (["worksheet", "nonsense"], "block"),
        (["check", "nonsense"], "stories"),
    ],
)
def test_main_turns_an_error_of_the_library_into_one_line(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("attnviz: ") and part in err and err.count("\n") == 1


def test_main_ends_quietly_on_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(attnviz, "models", interrupted)
    assert main.main(["models"]) == main.STOPPED
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("n_lines", [1, 20_000])
def test_main_ends_quietly_when_its_reader_has_gone(n_lines: int) -> None:
    """With one line the pipe breaks at the last flush, with many while the command prints."""
    code = f"""
import sys
from attnviz.cli import main, models
from attnviz.cli.command import Command
def run(arguments):
    sys.stdin.readline()
    for _ in range({n_lines}):
        print("a line of a table")
    return 0
main.COMMANDS["models"] = Command("models", "g", "", "help", (), lambda parser: None, run)
sys.exit(main.main(["models"]))
"""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(b"go\n")
        process.stdin.close()
        assert process.wait(300) == main.READER_GONE
        assert process.stderr.read() == b""


def test_a_command_line_without_a_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main([])
    assert ended.value.code == main.FAILED
    assert "COMMAND" in capsys.readouterr().err


def test_an_unknown_option_is_refused_with_the_usage_of_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main.main(["show", "Tom", "--pages", "3"])
    assert "usage: attnviz show [TEXT]" in (refusal := capsys.readouterr().err)
    assert "unrecognized arguments: --pages" in refusal
