"""What a capture of a long text takes in memory at its peak: all of it, moved, or a part.

    python -m benchmarks.large                    # 12 layers, 4,096 tokens
    python -m benchmarks.large --layers 36

Each way runs in a process of its own, which says the most anonymous memory that it had over that of
the loaded model, and the processor time of the pass. All must give the same weights.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS = Path("/proc/self/status")
WAYS = ("memory", "float16", "folder", "last layer", "heads")
SEED, VOCABULARY, WIDTH = 0, 64, 512


def main() -> int:
    """Run every way in turn and print a line for each; 1 if their weights differ."""
    options = _options()
    if options.way:
        print(json.dumps(_measured(options.way, options.layers, options.tokens)))
        return 0
    sums = set()
    for way in WAYS:
        given = ["--way", way, "--layers", str(options.layers), "--tokens", str(options.tokens)]
        # glibc would keep freed pieces of this size for itself
        env = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "1000000", "OMP_NUM_THREADS": "1"}
        ran = subprocess.run(
            [sys.executable, "-m", "benchmarks.large", *given],
            check=True, capture_output=True, text=True, env=env,
        )  # fmt: skip
        row = json.loads(ran.stdout.splitlines()[-1])
        print(f"{way:10} +{row['mib']:7.0f} MiB  {row['seconds']:6.1f} s")
        if way != "float16":
            sums.add(row["weights"])
    print(f"{options.layers} layers × {options.tokens} tokens; load {os.getloadavg()[0]:.1f}")
    if len(sums) > 1:
        print("WRONG: the weights differ")
    return int(len(sums) > 1)


def _measured(way: str, n_layers: int, n_tokens: int) -> dict[str, float]:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    import attnviz

    torch.manual_seed(SEED)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=WIDTH,
        num_hidden_layers=n_layers, num_attention_heads=8, max_position_embeddings=n_tokens,
    )  # fmt: skip
    lm = attnviz.load(LlamaForCausalLM(config).eval())
    ids = torch.randint(VOCABULARY, (1, n_tokens)).tolist()
    attnviz.capture(lm, inputs={"input_ids": [ids[0][:8]]})
    heads = [f"L{layer}.H0" for layer in range(n_layers)]  # one of each layer
    keep = {"last layer": n_layers - 1, "heads": heads}
    with tempfile.TemporaryDirectory() as folder, _peak() as peak:
        start = time.process_time()
        cap = attnviz.capture(
            lm,
            inputs={"input_ids": ids},
            store="float16" if way == "float16" else None,
            offload=folder if way == "folder" else False,
            keep=keep.get(way),
        )
        seconds = time.process_time() - start
    cap.verify().require()
    weights = float(cap.calls[-1].weights(0)[-8:].double().square().sum())
    return {"mib": peak[0], "seconds": seconds, "weights": weights}


@contextmanager
def _peak() -> Iterator[list[float]]:
    """The most anonymous memory inside the block over that before, in MiB."""
    before, most, is_over = _anonymous(), [0.0], threading.Event()

    def sample() -> None:
        while not is_over.wait(0.005):
            most[0] = max(most[0], _anonymous() - before)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield most
    finally:
        is_over.set()
        thread.join()


def _anonymous() -> float:
    line = next(x for x in STATUS.read_text().splitlines() if x.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--way", choices=WAYS)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
