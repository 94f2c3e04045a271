"""The choice that an alignment opens with.

In: a model's name, and the attentions between its decoder and its encoder. Out: what the model's
card says of them; without a note, the mean of all heads.
"""

from attnviz.checks import card
from attnviz.checks.cards import HeadNote
from attnviz.pictures.alignment import Stated
from attnviz.pictures.group.groups import Group
from attnviz.types import Site


def stated(name: str, group: Group) -> Stated:
    """The model card's note on cross-attention: about a head, a layer's mean, or all heads."""
    model_card = card(name)
    notes = () if model_card is None else model_card.description.heads
    for note in notes:
        if (note.stack, note.kind) == ("decoder", "cross"):
            return _stated(note, group)
    return Stated()


def _stated(note: HeadNote, group: Group) -> Stated:
    site = Site.parse(note.head)
    if site is None:
        return Stated(does=note.does)
    layer, head = site.layer, site.head or 0
    if layer >= group.n_layers or head >= group.call(layer).n_heads:
        return Stated()
    return Stated(layer, head, "layer" if site.head is None else None, note.does)
