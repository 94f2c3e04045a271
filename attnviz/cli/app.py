"""`attnviz app`: start the Streamlit app.

In: an address and a port, and what is opened first. Out: the app's address on stdout; the process
then becomes the server.
"""

import argparse
import errno
import os
import sys
from pathlib import Path

import attnviz
from attnviz.cli.command import Command, Refused
from attnviz.errors import require_package

PORT = 8501
ADDRESS = "127.0.0.1"
MAX_PORT = 65535


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "--port", type=int, default=PORT, metavar="N", help=f"port to listen on ({PORT})"
    )
    parser.add_argument(
        "--address",
        default=ADDRESS,
        metavar="IP",
        help=f"address to listen on; 0.0.0.0: every interface ({ADDRESS}: this machine only)",
    )
    parser.add_argument("--model", metavar="NAME", help="the model that the printed address opens")
    parser.add_argument("--text", metavar="TEXT", help="the text that it opens")
    parser.add_argument(
        "--capture",
        metavar="FILE",
        help="a .safetensors file of attnviz.save that it opens, without its model",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print where the app opens, and become its server.

    Raises `Refused` for a taken port and under torchrun, `ModelNotFound` for a name that no model
    has.
    """
    _require_one_process()
    require_package("streamlit", "the app", "app")
    require_free(arguments.address, arguments.port)
    if arguments.model is not None and not {"/", "\\"} & set(arguments.model):
        from attnviz.models.registry import find

        find(arguments.model)
    if arguments.capture is not None:
        _offer(arguments)
    shown = ADDRESS if arguments.address == "0.0.0.0" else arguments.address
    host = f"[{shown}]" if ":" in shown else shown
    opened = f"http://{host}:{arguments.port}{_query(arguments)}"
    print(f"attnviz: open {opened} (stop with Ctrl+C)", flush=True)
    options = [f"--server.port={arguments.port}", f"--server.address={arguments.address}"]
    command = [sys.executable, "-m", "streamlit", "run", str(app_file()), *options]
    os.execv(sys.executable, command)


def _require_one_process() -> None:
    """Raise `Refused` for one of several processes that torchrun started."""
    n_process = os.environ.get("WORLD_SIZE", "1")
    if n_process != "1":
        raise Refused(
            f"the app runs in one process, and torchrun started {n_process}: let a Python script"
            " capture the model in parts and save the capture with its weights, and open that file"
            " by attnviz app --capture FILE, without torchrun; the guide has the lines under"
            ' "Several GPUs or machines"'
        )


def _query(arguments: argparse.Namespace) -> str:
    """The part of the address that opens a capture, or a model and a text; "" for none of them."""
    from urllib.parse import quote, urlencode

    from attnviz.files import capture_file

    view = {"model": arguments.model, "text": arguments.text}
    if arguments.capture is not None:
        view["capture"] = capture_file.digest_of_file(os.environ[capture_file.VARIABLE])
    chosen = {name: value for name, value in view.items() if value is not None}
    return f"/?{urlencode(chosen, quote_via=quote)}" if chosen else ""


def _offer(arguments: argparse.Namespace) -> None:
    """Name a capture file to the server, after checking it.

    Raises `BadInput` for a file that is not a capture, `Refused` beside a model or a text.
    """
    from attnviz.files import capture_file

    if arguments.model is not None or arguments.text is not None:
        raise Refused("--capture opens a file without a model: leave out --model and --text")
    attnviz.read(arguments.capture)
    os.environ[capture_file.VARIABLE] = str(Path(arguments.capture).resolve())


def app_file() -> Path:
    """The launcher: beside the package in a checkout, inside it in an installed wheel."""
    package = Path(attnviz.__file__).parent
    inside = package / "launcher.py"
    return inside if inside.is_file() else package.parent / "app.py"


def require_free(address: str, port: int) -> None:
    """Raise `Refused` if nothing can listen on this port, with what to do instead."""
    import socket

    if not 1 <= port <= MAX_PORT:
        raise Refused(f"a port is a number from 1 to {MAX_PORT}, not {port}")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        number = error.errno or 0  # negative for an address that is not one
        if number <= 0 or number == errno.EADDRNOTAVAIL:
            raise Refused(
                f"{address} is not an address of this machine: give --address 127.0.0.1 for this"
                " machine only, or --address 0.0.0.0 for every interface"
            ) from error
        reason = os.strerror(number)
        raise Refused(
            f"cannot listen on {address} port {port} ({reason}). Another program may be "
            f"using it: stop that one, or choose another port: make run PORT={port + 1}, "
            f"or attnviz app --port {port + 1}"
        ) from error


COMMAND = Command(
    name="app",
    group="look at attention",
    usage="[--port N] [--address IP] [--model NAME] [--text TEXT] [--capture FILE]",
    help="start the app and print its address",
    examples=(
        "attnviz app",
        "attnviz app --port 9000",
        'attnviz app --model stories --text "Lily gave the red ball to"',
        "attnviz app --capture run.safetensors",
    ),
    declare=declare,
    run=run,
)
