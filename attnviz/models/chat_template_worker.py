"""A process of its own that fills in a chat template, so that a hostile one can only stop itself.

In, as JSON on the standard input: the template, the conversations, the tokenizer's special tokens.
Out, as JSON on the standard output: the filled-in texts, or what went wrong. transformers' own
sandbox keeps a template from Python's insides; it does not keep it from endless loops or from
numbers and texts that fill the memory: the limits here do.
"""

import json
import os
import sys
from typing import Any

MOST_BYTES = 2**30
MOST_SECONDS = 5
MOST_CHARS = 2**21


def main() -> None:
    """Answer one question."""
    asked = json.load(sys.stdin)
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    from transformers.utils.chat_template_utils import render_jinja_template

    _limit()
    try:
        made: Any = render_jinja_template(
            conversations=asked["conversations"],
            chat_template=asked["template"],
            add_generation_prompt=True,
            **asked["special_tokens"],
        )
        texts, _ = made  # the second says where answers stand, which nobody asked for
        if sum(map(len, texts)) > MOST_CHARS:
            raise ValueError(f"it makes more than {MOST_CHARS} characters")
        answer: dict[str, object] = {"texts": texts}
    except Exception as error:  # a template can raise anything
        answer = {"error": f"{type(error).__name__}: {error}".strip(": ")[:MOST_CHARS]}
    json.dump(answer, sys.stdout)


def _limit() -> None:
    """Bounds for memory and computing time, where the system has them."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock is what is left
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + MOST_SECONDS,) * 2)


if __name__ == "__main__":
    main()
