"""Texts with a known number of tokens."""

from attnviz.models.loaded_model import LoadedModel

STORY = (
    "The animal did not cross the street because it was too tired, and the driver of the old red"
    " bus waited until it had slept a little. When Mary and John went to the store, John gave a"
    " book to Mary, who put it on the table near the window. She sat on the bank of the river and"
    " thought about the bank loan that her brother had asked for in the spring. Nobody knew how the"
    " cat came into the house, but it sat on the mat as if it had always been there."
)
SPECIAL_TOKENS = 2  # one before, one after


def text_of(model: LoadedModel, n_tokens: int, start: int = 0) -> str:
    """A text of exactly that many tokens; another `start` gives another text."""
    words = STORY.split()
    words = words[start % len(words) :] + words[: start % len(words)]
    taken: list[str] = []
    while _count(model, [*taken, words[len(taken) % len(words)]]) <= n_tokens:
        taken.append(words[len(taken) % len(words)])
    missing = n_tokens - _count(model, taken)
    text = " ".join([*taken, *["so"] * missing])
    assert _count(model, [text]) == n_tokens, (n_tokens, text)
    return text


def _count(model: LoadedModel, words: list[str]) -> int:
    return len(model.tokenizer.tokenize(" ".join(words))) + SPECIAL_TOKENS
