"""A model's config and tokenizer, first tried in a child process with limits.

In: the checked copy of a model's folder, and later each text that its tokenizer gets. Out: nothing,
or a `ModelNotFound` or `BadInput` if the child did not survive that. Only then does this process do
the same with the same bytes: a crash, a hang or a lack of memory ends a child and nothing else.

One process without secrets in its environment imports the libraries; for each model it forks a
child, which forks once more for each text (`rehearsal_worker`). A child that is gone, as one that
the system ended for lack of memory, is no fault of a text: a new one reads the model once more, of
which the small files are kept. Where there is no fork, as on
Windows, nothing is tried first.
"""

import atexit
import hashlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections import OrderedDict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from attnviz.errors import BadInput, ModelNotFound
from attnviz.models import rehearsal_worker as worker
from attnviz.models.child_environment import bare_environment

START_S = 120.0  # the imports, on a busy machine
SLACK_S = 10.0  # the child's own limits end it before; this is for a child that cannot run
MAX_KEPT = 1024  # texts that were tried already
LENGTH = struct.Struct("!I")
GONE = ""  # the answer of a child that does not answer


class Rehearsal:
    """The child process of one model."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._copy: TemporaryDirectory[str] | None = None
        self._tried: OrderedDict[str, None] = OrderedDict()
        self._name = ""

    def open(self, folder: Path, name: str) -> None:
        """Try to read config, tokenizer and processor; `ModelNotFound` if the child failed."""
        if not hasattr(os, "fork"):
            return
        self._name = name
        self._copy = TemporaryDirectory(prefix="attnviz-")
        for file in folder.iterdir():
            if not file.is_symlink():  # a link leads to weights, which no child reads
                shutil.copyfile(file, Path(self._copy.name) / file.name)
        with self._lock:
            answer = self._opened(self._copy.name)
        if answer != worker.FINE:
            self.close()
            raise ModelNotFound(
                f"reading {name} in a process with limits did not succeed: it crashed, read another"
                f" file, or took more than {worker.OPEN_SECONDS} s or"
                f" {worker.MAX_BYTES // 2**30} GiB; choose another model",
                code="rehearsal_failed",
                name=name,
                seconds=worker.OPEN_SECONDS,
                gib=worker.MAX_BYTES // 2**30,
            )

    def tokenize(self, *texts: object, **options: object) -> None:
        """Try the tokenizer on texts; `BadInput` if the process forked for them failed."""
        job = json.dumps({"texts": texts, "options": options}, default=str)
        digest = hashlib.sha256(job.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            if self._copy is None or digest in self._tried:
                return
            if self._answer(self._copy.name, json.loads(job)) == worker.FINE:
                self._tried[digest] = None
                if len(self._tried) > MAX_KEPT:
                    self._tried.popitem(last=False)
                return
        raise BadInput(
            f"the tokenizer of {self._name} did not survive this text in a process with limits: it"
            f" crashed, or took more than {worker.TEXT_SECONDS} s or"
            f" {worker.MAX_BYTES // 2**30} GiB; give another text",
            code="tokenizer_failed",
            name=self._name,
            seconds=worker.TEXT_SECONDS,
            gib=worker.MAX_BYTES // 2**30,
        )

    def _opened(self, folder: str) -> str:
        """The answer of a new child that reads the model."""
        self._hang_up()
        self._line = _fork_server().child()
        return _asked(self._line, {"open": folder}, worker.OPEN_SECONDS)

    def _answer(self, folder: str, job: object) -> str:
        """The child's answer to a text; that of a new child where the first is gone."""
        for _ in range(2):
            if self._line is not None or self._opened(folder) == worker.FINE:
                assert self._line is not None
                answer = _asked(self._line, job, worker.TEXT_SECONDS)
                if answer != GONE:
                    return answer
            self._hang_up()
        return worker.FAILED

    def close(self) -> None:
        """End the child, and remove the files that it read."""
        self._hang_up()
        copy, self._copy = self._copy, None
        if copy is not None:
            copy.cleanup()

    def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()


def _asked(line: socket.socket, job: object, seconds: int) -> str:
    """The child's answer to a job; `GONE` if it is gone or does not answer in time."""
    data = json.dumps(job).encode("ascii")
    line.settimeout(seconds + SLACK_S)
    try:
        line.sendall(LENGTH.pack(len(data)) + data)
        return line.recv(1).decode("ascii")  # nothing if it is gone
    except (OSError, ValueError):
        return GONE


class _ForkServer:
    """The process that forks a child for each model; it ends with this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def child(self) -> socket.socket:
        """The line to a new child; the process is started anew if it is gone."""
        ours, its = socket.socketpair()
        with self._lock, its:
            for _ in range(2):
                if self._line is None:
                    self._line, self._process = _started()
                try:
                    socket.send_fds(self._line, [b"+"], [its.fileno()])
                    if self._line.recv(1) == b"+":
                        break
                except OSError:
                    pass
                self._end()
        return ours

    def close(self) -> None:
        """End the process and, with their lines, its children."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        line, process, self._line, self._process = self._line, self._process, None, None
        if line is not None:
            line.close()
        if process is not None:
            process.kill()
            process.wait()


def _started() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    ours, its = socket.socketpair()
    ours.settimeout(START_S)
    with its:
        process = subprocess.Popen(
            [sys.executable, "-I", str(Path(worker.__file__))],
            stdin=its.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**bare_environment(), **worker.ENVIRONMENT},
            start_new_session=True,
        )
    return ours, process


@cache
def _fork_server() -> _ForkServer:
    server = _ForkServer()
    atexit.register(server.close)
    return server
