"""The translated texts that a component shows.

In: a language and the keys that the component asks for. Out: its templates, by the last part of
each key.
"""

from attnviz.components.heads import strings_of
from attnviz.i18n import Language, catalogue


def strings(lang: Language, keys: tuple[str, ...]) -> dict[str, str]:
    """The templates of a component's texts."""
    return strings_of(keys, catalogue(lang).__getitem__)
