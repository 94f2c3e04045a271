# Written by `python -m scripts.write_stub` from attnviz/changes/__init__.py.

from attnviz.changes.kinds import Ablate as Ablate
from attnviz.changes.kinds import Change as Change
from attnviz.changes.kinds import Corpus as Corpus
from attnviz.changes.kinds import Cut as Cut
from attnviz.changes.kinds import Edited as Edited
from attnviz.changes.kinds import Mask as Mask
from attnviz.changes.kinds import Patch as Patch
from attnviz.changes.kinds import Pattern as Pattern
from attnviz.changes.make import ablate as ablate
from attnviz.changes.make import cut as cut
from attnviz.changes.make import edit as edit
from attnviz.changes.make import mask as mask
from attnviz.changes.make import patch as patch
from attnviz.changes.make import pattern as pattern
from attnviz.changes.text import parse as parse
from attnviz.changes.text import write as write
from attnviz.types import Site as Site
