# Written by `python -m scripts.write_stub` from attnviz/attention/__init__.py.

from attnviz.attention.call import AttentionCall as AttentionCall
from attnviz.attention.capture import Capture as Capture
from attnviz.attention.steps import Steps as Steps
from attnviz.attention.verification import Verification as Verification
