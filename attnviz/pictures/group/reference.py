"""The texts over which a head's mean output is taken, in words.

In: a model, whose reference is that of `attnviz.capture.changed`. Out: how many texts there are, of
which kind, and how the first one begins, for a sentence that says what "without the head" means.
"""

from typing import TYPE_CHECKING

from attnviz.i18n import Language, text
from attnviz.summary import shortened

if TYPE_CHECKING:
    from attnviz.capture.changed.references import Reference

BEGINNING = 48  # characters of the first text


def in_words(lang: Language, reference: "Reference") -> str:
    """A reference as part of a sentence: "50 generated stories (“Ben was a happy boy …”)"."""
    first = shortened(reference.texts[0], BEGINNING) if reference.texts else ""
    return text(lang, f"reference.{reference.kind}", n=reference.n, first=first)
