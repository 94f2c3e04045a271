"""A model's own chat template: the words and tokens that it was taught to expect around a message.

In: a loaded model and texts. Out: each text as one message of a user, with what begins the answer,
as `apply_chat_template(add_generation_prompt=True)` writes it. A template is a program that came
with the model: transformers' sandbox runs it, in another process with limits (`template_child`).
"""

import json
import subprocess
import sys
from datetime import date
from functools import lru_cache
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from attnviz.errors import BadInput
from attnviz.models import chat_template_worker
from attnviz.models.files import first_line
from attnviz.models.loaded import LoadedModel
from attnviz.tokens.labels import without_surrogates

ROLE = "user"
WAIT_S = 20.0  # on a busy machine the imports alone take seconds
LIMITS = f"it took more than {chat_template_worker.MOST_SECONDS} s or 1 GiB"


def of_tokenizer(tokenizer: PreTrainedTokenizerBase | None) -> str | None:
    """The template of a tokenizer, its default one where it has several; None without."""
    if tokenizer is None or not tokenizer.chat_template:
        return None
    try:
        found: str = tokenizer.get_chat_template()
    except ValueError:  # several, and none of them the default
        return None
    return found


def as_messages(lm: LoadedModel, texts: list[str], *, pictured: bool = False) -> list[str]:
    """What the model is to read where each text is a message; `pictured` puts a picture before it.

    Raises `BadInput` for a model without a chat template, and for a template that fails, refuses
    the roles, or goes on for too long.
    """
    template = of_tokenizer(lm.text_tokenizer())
    if template is None or not (lm.card.writes_of_pictures if pictured else lm.kind == "decoder"):
        raise BadInput(
            f"{lm.name} is a {lm.kind} model without a chat template: it takes a text as it is,"
            " not as a message; leave chat= out",
            code="no_chat_template",
            name=lm.name,
            kind=lm.kind,
        )
    question = {
        "template": template,
        "conversations": [
            [{"role": ROLE, "content": _with_picture(text) if pictured else text}] for text in texts
        ],
        "special_tokens": lm.text_tokenizer().special_tokens_map,
    }
    try:
        answer = _answer(json.dumps(question, default=str), date.today())
    except subprocess.SubprocessError as error:
        raise _template_error(lm, LIMITS) from error
    if "error" in answer:
        raise _template_error(lm, str(answer["error"]))
    found: list[str] = answer["texts"]  # type: ignore[assignment]
    if not all(text.strip() for text in found):
        raise _template_error(lm, "it makes nothing of the message")
    return [without_surrogates(text) for text in found]


def _with_picture(text: str) -> list[dict[str, str]]:
    """A message of two parts, in the order in which such models learn them."""
    return [{"type": "image"}, {"type": "text", "text": text}]


@lru_cache(maxsize=64)
def _answer(question: str, _today: date) -> dict[str, object]:
    """What the other process answers; starting it takes most of a second. A template may ask for
    the date, so an answer is good for a day."""
    # isolated: no module of the directory that the app was started in is imported
    command = [sys.executable, "-I", str(Path(chat_template_worker.__file__))]
    done = subprocess.run(
        command, input=question, capture_output=True, text=True, timeout=WAIT_S, check=True
    )
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def _template_error(lm: LoadedModel, reason: str) -> BadInput:
    said = first_line(ValueError(reason))[:300]
    return BadInput(
        f"the chat template of {lm.name} cannot be used: {said}; leave chat= out to give the text"
        " as it is",
        code="bad_chat_template",
        name=lm.name,
        reason=said,
    )
