"""`attnviz app`: start the Streamlit app.

In: an address and a port, and what is opened first. Out: the app's address on stdout; the process
then becomes the server.
"""

import argparse
import os
import sys
from pathlib import Path

import attnviz
from attnviz.cli.command import Command, Refused
from attnviz.errors import require_package

PORT = 8501
ADDRESS = "127.0.0.1"
MOST_PORT = 65535


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


def run(arguments: argparse.Namespace) -> int:
    """Print where the app opens, and become its server; raises `Refused` for a taken port."""
    require_package("streamlit", "the app", "app")
    require_free(arguments.address, arguments.port)
    shown = ADDRESS if arguments.address == "0.0.0.0" else arguments.address
    host = f"[{shown}]" if ":" in shown else shown
    opened = f"http://{host}:{arguments.port}{_query(arguments)}"
    print(f"attnviz: open {opened} (stop with Ctrl+C)", flush=True)
    options = [f"--server.port={arguments.port}", f"--server.address={arguments.address}"]
    command = [sys.executable, "-m", "streamlit", "run", str(app_file()), *options]
    os.execv(sys.executable, command)


def _query(arguments: argparse.Namespace) -> str:
    """The part of the address that opens a model and a text; "" where neither was given."""
    from urllib.parse import quote, urlencode

    view = {"model": arguments.model, "text": arguments.text}
    chosen = {name: value for name, value in view.items() if value is not None}
    return f"/?{urlencode(chosen, quote_via=quote)}" if chosen else ""


def app_file() -> Path:
    """The launcher: beside the package in a checkout, inside it in an installed wheel."""
    package = Path(attnviz.__file__).parent
    inside = package / "app.py"
    return inside if inside.is_file() else package.parent / "app.py"


def require_free(address: str, port: int) -> None:
    """Raise `Refused` if nothing can listen on this port, with what to do instead."""
    import socket

    if not 1 <= port <= MOST_PORT:
        raise Refused(f"a port is a number from 1 to {MOST_PORT}, not {port}")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        number = error.errno or 0  # negative for an address that is not one
        reason = os.strerror(number) if number > 0 else str(error)
        raise Refused(
            f"cannot listen on {address} port {port} ({reason}). Another program may be "
            f"using it: stop that one, or choose another port: make run PORT={port + 1}, "
            f"or attnviz app --port {port + 1}"
        ) from error


COMMAND = Command(
    name="app",
    group="look at attention",
    usage="[--port N] [--address IP] [--model NAME] [--text TEXT]",
    help="start the app and print its address",
    examples=(
        "attnviz app",
        "attnviz app --port 9000",
        'attnviz app --model stories --text "Lily gave the red ball to"',
    ),
    declare=declare,
    run=run,
)
