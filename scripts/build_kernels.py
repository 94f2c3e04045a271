"""Compile attnviz/live/engine/kernels.c to kernels.wasm: python -m scripts.build_kernels [FILE]

The compiler is the one of the PyPI wheel `ziglang`, in exactly `VERSION`: another version writes
other bytes. It is 81 MB, so that nothing here depends on it; to change a kernel,

    pip install --target FOLDER ziglang==VERSION
    PYTHONPATH=FOLDER python -m scripts.build_kernels

and commit both files. A slow test compiles the source again and compares.
"""

import subprocess
import sys
from pathlib import Path

VERSION = "0.13.0.post1"
ENGINE = Path(__file__).parents[1] / "attnviz" / "live" / "engine"
SOURCE, BINARY = ENGINE / "kernels.c", ENGINE / "kernels.wasm"
MOST_BYTES = 2**30  # of memory that a model may take
OPTIONS = (
    *("-target", "wasm32-freestanding", "-mcpu=generic+simd128+bulk_memory"),
    *("-O3", "-ffast-math", "-fno-sanitize=undefined", "-nostdlib", "-s"),
    "-Wl,--no-entry",
    "-Wl,--export-dynamic",
    "-Wl,--import-memory",
    f"-Wl,--max-memory={MOST_BYTES:x}",  # which this compiler reads as hexadecimal
)


def build(to: Path, environment: dict[str, str] | None = None) -> None:
    """Write the binary; raises `CalledProcessError` where the compiler refuses or is missing."""
    command = [sys.executable, "-m", "ziglang", "cc", *OPTIONS, str(SOURCE), "-o", str(to)]
    subprocess.run(command, check=True, env=environment)
    to.chmod(0o644)  # the compiler takes it for a program


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else BINARY)
