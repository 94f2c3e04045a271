# Written by `python -m scripts.write_stub` from attnviz/masks/__init__.py.

from attnviz.masks.kinds import blockers as blockers
from attnviz.masks.kinds import blocks as blocks
from attnviz.masks.kinds import causal as causal
from attnviz.masks.kinds import combine as combine
from attnviz.masks.kinds import drawn as drawn
from attnviz.masks.kinds import from_model as from_model
from attnviz.masks.kinds import named as named
from attnviz.masks.kinds import padding as padding
from attnviz.masks.kinds import prefix as prefix
from attnviz.masks.kinds import window as window
