"""Compile attnviz/live/engine/kernels.c to kernels.wasm: python -m scripts.build_kernels [FILE]

The file has the kernels twice, so that one download serves every browser: with the instructions
that all of them know, and in a custom section, "fused", with those that multiply and add at once
(relaxed SIMD: Chrome and Edge 114, Firefox 145).

The compiler is the one of the PyPI wheel `ziglang`, in exactly `VERSION`: another version writes
other bytes. It is 81 MB, so that nothing here depends on it; to change a kernel,

    pip install --target FOLDER ziglang==VERSION
    PYTHONPATH=FOLDER python -m scripts.build_kernels

and commit both files. A slow test compiles the source again and compares.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

VERSION = "0.13.0.post1"
ENGINE = Path(__file__).parents[1] / "attnviz" / "live" / "engine"
SOURCE, BINARY = ENGINE / "kernels.c", ENGINE / "kernels.wasm"
MOST_BYTES = 2**30  # of memory that a model may take
OPTIONS = (
    *("-target", "wasm32-freestanding"),
    *("-O3", "-ffast-math", "-fno-sanitize=undefined", "-nostdlib", "-s"),
    "-Wl,--no-entry",
    "-Wl,--export-dynamic",
    "-Wl,--import-memory",
    f"-Wl,--max-memory={MOST_BYTES:x}",  # which this compiler reads as hexadecimal
)


EVERYWHERE = "generic+simd128+bulk_memory"
FUSED = f"{EVERYWHERE}+relaxed_simd"


def build(to: Path, environment: dict[str, str] | None = None) -> None:
    """Write the binary; raises `CalledProcessError` where the compiler refuses or is missing."""
    with tempfile.TemporaryDirectory() as folder:
        plain, fused = (
            _compiled(cpu, Path(folder) / "kernels.wasm", environment)
            for cpu in (EVERYWHERE, FUSED)
        )
    to.write_bytes(plain + _section("fused", fused))


def _compiled(cpu: str, to: Path, environment: dict[str, str] | None) -> bytes:
    machine = f"-mcpu={cpu}"
    command = [sys.executable, "-m", "ziglang", "cc", machine, *OPTIONS, str(SOURCE), "-o", str(to)]
    subprocess.run(command, check=True, env=environment)
    return to.read_bytes()


def _section(name: str, content: bytes) -> bytes:
    """A custom section of a WebAssembly module."""
    named = bytes([len(name)]) + name.encode() + content
    return b"\0" + _leb128(len(named)) + named


def _leb128(number: int) -> bytes:
    """A number in groups of seven bits, the lowest first, all but the last marked."""
    groups = []
    while number >= 128:
        groups.append(number % 128 + 128)
        number //= 128
    return bytes([*groups, number])


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else BINARY)
