"""The library used in a minute, in an environment without the tests' packages: a script to run.

`scripts/try_ranges` runs it with the lowest and the newest versions, in an empty folder. It prints
the versions and ends with an error where anything is not as it should be.
"""

import sys
from importlib.metadata import version

import attnviz

PACKAGES = ("torch", "transformers", "numpy", "pillow", "jaxtyping", "wcwidth", "safetensors")


def main() -> None:
    """Capture, check, save, read back, draw, tabulate, generate, change a head."""
    lm = attnviz.load("stories")
    cap = attnviz.capture(lm, "Lily gave the red ball to")
    assert cap.verify().ok
    attnviz.save(cap, "x.safetensors")
    again = attnviz.read("x.safetensors")
    assert (again.all_weights() == cap.all_weights()).all()
    for ending in ("svg", "csv", "npz", "json"):
        assert attnviz.save(again, f"x.{ending}", head="L2.H1").stat().st_size
    assert attnviz.save(again, "x.html").stat().st_size
    assert len(again.table()) == 16
    assert attnviz.capture(lm, "Lily gave", generate=4).verify().ok
    changed = attnviz.capture(lm, "Lily gave the red ball to", changes=[attnviz.ablate("L2.H1")])
    assert changed.verify().ok
    sys.stdout.write(", ".join(f"{name} {version(name)}" for name in PACKAGES) + "\n")


if __name__ == "__main__":
    main()
