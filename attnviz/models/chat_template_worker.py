"""The process that fills in a chat template, so that a hostile one can stop nothing but itself.

In, as JSON on the standard input: the template, the conversations, the tokenizer's special tokens.
Out, as JSON on the standard output: the messages, or an error. transformers' own sandbox keeps a
template from Python's internals, but not from endless loops or from numbers and texts that fill the
memory; the limits here do that.
"""

import json
import os
import sys
from typing import Any

MAX_BYTES = 2**30
MAX_SECONDS = 5
MAX_CHARS = 2**21


def main() -> None:
    """Fill in the template of one job."""
    job = json.load(sys.stdin)
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    from transformers.utils.chat_template_utils import render_jinja_template

    _limit()
    try:
        rendered: Any = render_jinja_template(
            conversations=job["conversations"],
            chat_template=job["template"],
            add_generation_prompt=True,
            **job["special_tokens"],
        )
        texts, _ = rendered  # the second part, the places of answers, is not needed
        if sum(map(len, texts)) > MAX_CHARS:
            raise ValueError(f"its output has more than {MAX_CHARS} characters")
        result: dict[str, object] = {"texts": texts}
    except Exception as error:  # a template can raise anything
        result = {"error": f"{type(error).__name__}: {error}".strip(": ")[:MAX_CHARS]}
    json.dump(result, sys.stdout)


def _limit() -> None:
    """Bound memory and computing time, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: only the parent's clock is left
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    used_s = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used_s) + MAX_SECONDS,) * 2)


if __name__ == "__main__":
    main()
