# Written by `python -m scripts.write_stub` from attnviz/corpus/__init__.py.

from attnviz.corpus.embed import Embedding as Embedding
from attnviz.corpus.result import Survey as Survey
