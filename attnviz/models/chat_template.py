"""A model's chat template: the words and tokens that it learned to expect around a message.

In: a loaded model and texts. Out: each text as one message of a user, followed by the opening of
the answer, as `apply_chat_template(add_generation_prompt=True)` writes it. A template is a program
that came with the model: transformers' sandbox runs it in another process with limits
(`chat_template_worker`).
"""

import json
import subprocess
import sys
import threading
from datetime import date
from functools import lru_cache
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from attnviz.errors import BadInput
from attnviz.models import chat_template_worker
from attnviz.models.child_environment import bare_environment
from attnviz.models.files import first_line
from attnviz.models.loaded_model import LoadedModel
from attnviz.tokens.labels import without_surrogates

ROLE = "user"
WAIT_S = 20.0  # on a busy machine the imports alone take seconds
MAX_CHILDREN = 2  # at once: each may take a GiB
_children = threading.BoundedSemaphore(MAX_CHILDREN)
LIMITS = f"it took more than {chat_template_worker.MAX_SECONDS} s or 1 GiB"


def of_tokenizer(tokenizer: PreTrainedTokenizerBase | None) -> str | None:
    """The template of a tokenizer, its default one if it has several; None without one."""
    if tokenizer is None or not tokenizer.chat_template:
        return None
    try:
        template: str = tokenizer.get_chat_template()
    except ValueError:  # several, and none of them is the default
        return None
    return template


def as_messages(lm: LoadedModel, texts: list[str], *, with_picture: bool = False) -> list[str]:
    """Each text inside the model's template; `with_picture` puts a picture before it.

    Raises `BadInput` for a model without a chat template, and for a template that fails, refuses
    the role, or exceeds the limits.
    """
    template = of_tokenizer(lm.text_tokenizer())
    chats = lm.card.writes_of_pictures if with_picture else lm.kind == "decoder"
    if template is None or not chats:
        raise BadInput(
            f"{lm.name} is a {lm.kind} model without a chat template: it takes a text as it is,"
            " not as a message; leave chat= out",
            code="no_chat_template",
            name=lm.name,
            kind=lm.kind,
        )
    # the picture before the text: the order in which such models learn them
    contents = [
        [{"type": "image"}, {"type": "text", "text": text}] if with_picture else text
        for text in texts
    ]
    job = {
        "template": template,
        "conversations": [[{"role": ROLE, "content": content}] for content in contents],
        "special_tokens": lm.text_tokenizer().special_tokens_map,
    }
    try:
        result = _filled_in(json.dumps(job, default=str), date.today())
    except subprocess.SubprocessError as error:
        raise _template_error(lm, LIMITS) from error
    if "error" in result:
        raise _template_error(lm, str(result["error"]))
    messages: list[str] = result["texts"]  # type: ignore[assignment]
    if not all(text.strip() for text in messages):
        raise _template_error(lm, "its output is empty")
    return [without_surrogates(text) for text in messages]


@lru_cache(maxsize=16)
def _filled_in(job: str, _today: date) -> dict[str, object]:
    """The other process's answer to a job in JSON.

    Starting the process takes most of a second, so answers are kept, for a day: a template may ask
    for the date.
    """
    # isolated: no module of the directory that the app was started in is imported
    command = [sys.executable, "-I", str(Path(chat_template_worker.__file__))]
    with _children:
        process = subprocess.run(
            command,
            input=job,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=True,
            env=bare_environment(),
        )
    result: dict[str, object] = json.loads(process.stdout)
    return result


def _template_error(lm: LoadedModel, reason: str) -> BadInput:
    short_reason = first_line(ValueError(reason))[:300]
    return BadInput(
        f"the chat template of {lm.name} cannot be used: {short_reason}; leave chat= out to give"
        " the text as it is",
        code="bad_chat_template",
        name=lm.name,
        reason=short_reason,
    )
