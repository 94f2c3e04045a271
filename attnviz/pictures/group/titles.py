"""Titles of models.

In: a language and a model's name, as it was typed or stands in the address. Out: a title.
"""

import re

from attnviz.i18n import Language, text
from attnviz.models.registry import HUB_ID, REGISTRY


def model_title(lang: Language, name: str) -> str:
    """The title of a registered model, a hub id, or the last part of a folder's path."""
    if name in REGISTRY:
        return text(lang, f"model.{name}.label")
    return name if HUB_ID.fullmatch(name) else re.split(r"[\\/]", name.rstrip("\\/"))[-1]
