"""The process in which hostile models can harm nothing but themselves (started by `rehearsal`).

In, on a socket that is its standard input: sockets, one for each model; on each of these a job in
JSON at a time. Out: one byte for each job. A child is limited in memory, in time and in the files
that it opens, and has no network. The names of signals and limits are those of POSIX.
"""

import json
import os
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

FINE, FAILED = "+", "-"
OPEN_SECONDS = 60
TEXT_SECONDS = 20
MAX_BYTES = 2 * 2**30  # more than the libraries themselves have taken
LENGTH = struct.Struct("!I")
MAX_JOB_BYTES = 2**26
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",  # threads do not survive a fork
    "OMP_NUM_THREADS": "1",
    "HF_HOME": "/nonexistent",
}
FORBIDDEN = (
    *("subprocess.", "os.exec", "os.system", "os.posix_spawn", "os.kill", "socket.", "ctypes."),
    *("os.remove", "os.rename", "os.truncate", "os.mkdir", "os.rmdir", "os.link", "os.symlink"),
)
# what libraries look at to know the machine
OF_THE_MACHINE = (
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/sys/kernel", "/sys/devices/system/cpu", "/dev/null"),
    *("/etc/os-release", "/etc/mime.types", "/usr/share/zoneinfo", "/usr/lib/os-release"),
)
Tokenizer = Any


def main() -> None:
    """Fork a child for each socket that comes, until the parent has gone."""
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for these children
    control = socket.socket(fileno=0)
    sys.path.insert(0, str(Path(__file__).parents[2]))
    _import_all()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        if os.fork() == 0:
            control.close()
            _serve(socket.socket(fileno=descriptors[0]))
            os._exit(0)
        os.close(descriptors[0])
        control.sendall(message)


def _import_all() -> None:
    """Import what models need by reading two of the app's own, while there are no limits yet."""
    import torch

    from attnviz.models.registry import EMBEDDED

    torch.set_num_threads(1)
    tempfile.tempdir = tempfile.gettempdir()  # found by writing, which is forbidden later
    for name in ("sentiment", "shapes", "stories"):
        _open(EMBEDDED / name)


def _serve(line: socket.socket) -> None:
    """Do the jobs of one model, one after the other."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _limit_memory()
    tokenizer: Tokenizer = None
    while (job := _next_job(line)) is not None:
        if "open" in job:
            folder = Path(job["open"])
            _allow_files_of(folder)
            tokenizer = _timed(partial(_open, folder), OPEN_SECONDS)
            answer = FINE
        else:
            answer = _in_a_child(tokenizer, job)
        line.sendall(answer.encode("ascii"))


def _next_job(line: socket.socket) -> dict[str, Any] | None:
    """The next job; None once the parent has closed the line."""
    header = line.recv(LENGTH.size, socket.MSG_WAITALL)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    if length > MAX_JOB_BYTES:
        return None
    job: dict[str, Any] = json.loads(line.recv(length, socket.MSG_WAITALL))
    return job


def _open(folder: Path) -> Tokenizer:
    """Read what the app will read, weights apart; what raises here raises there too."""
    from transformers import AutoConfig

    from attnviz.models import architecture, from_folder, weights

    tokenizer: Tokenizer = None
    with suppress(Exception):
        tokenizer = _unless_out_of_memory(lambda: from_folder.tokenizer_in(folder))
    with suppress(Exception):
        config = AutoConfig.from_pretrained(folder, **from_folder.OFFLINE)
        _unless_out_of_memory(lambda: weights.on_meta(config))
        kind = architecture.kind_of(config)
        processor = from_folder.processor_in(folder, kind)
        if processor is not None and kind in ("vision", "text-image"):
            _unless_out_of_memory(lambda: _see_a_picture(processor))
    if tokenizer is not None:
        _tokenize(tokenizer, {"texts": ["attnviz 1"], "options": {}})
    return tokenizer


def _see_a_picture(processor: Any) -> None:
    from PIL import Image

    processor(images=Image.new("RGB", (64, 48)), return_tensors="pt")


def _in_a_child(tokenizer: Tokenizer, job: dict[str, Any]) -> str:
    """The outcome of a text; this process itself never reads one."""
    if tokenizer is None:
        return FINE
    for _ in range(2):
        child = os.fork()
        if child == 0:
            _limit_processes()
            _timed(lambda: _tokenize(tokenizer, job), TEXT_SECONDS)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
            return FINE if status == 0 else FAILED
    return FAILED  # the system ended it twice: no limit of ours does


def _tokenize(tokenizer: Tokenizer, job: dict[str, Any]) -> None:
    """Tokenise and write the tokens out; an error that is no lack of memory raises there too."""

    def work() -> None:
        ids = tokenizer(*job["texts"], **job["options"])["input_ids"]
        rows = ids if ids and isinstance(ids[0], list) else [ids]
        for row in rows:
            tokenizer.convert_ids_to_tokens(row)
            tokenizer.decode(row)

    with suppress(Exception):
        _unless_out_of_memory(work)


def _unless_out_of_memory(work: Callable[[], Any]) -> Any:
    """The result of the work; the process ends if it lacks memory or opens another file."""
    try:
        return work()
    except (MemoryError, OtherFile):
        os._exit(1)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None  # the parent gets the same, and reports it


def _timed(work: Callable[[], Any], seconds: int) -> Any:
    """The result of the work; the system ends this process after so many seconds."""
    import resource

    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + seconds, hard))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    result = work()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return result


def _limit_processes() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def _limit_memory() -> None:
    import resource

    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MAX_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class OtherFile(BaseException):
    """Something opened a file that is neither the model's nor the interpreter's."""


def _allow_files_of(folder: Path) -> None:
    """From now on open only files of this folder and of installed packages, and no network."""
    roots = tuple(
        os.path.realpath(str(path)) + os.sep
        for path in (folder, sys.prefix, sys.base_prefix, *sys.path)
    )

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path = arguments[0]
            if isinstance(path, str | bytes | os.PathLike) and not _allowed(path):
                raise OtherFile
        elif event.startswith(FORBIDDEN):
            raise OtherFile

    def _allowed(path: Any) -> bool:
        place = os.path.realpath(os.fsdecode(path))
        return f"{place}{os.sep}".startswith(roots) or place.startswith(OF_THE_MACHINE)

    sys.addaudithook(watch)


if __name__ == "__main__":
    main()
