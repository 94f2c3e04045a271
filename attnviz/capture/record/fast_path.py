"""torch's fast path for attention modules, switched off while anyone watches them.

In: threads that watch. Out: torch's switch as it was before the first of them. The fast path is one
opaque operation; the switch belongs to the process, while models are recorded in several threads.
"""

import torch

from attnviz.models.process_setting import ProcessSetting

fast_path = ProcessSetting(
    False, torch.backends.mha.get_fastpath_enabled, torch.backends.mha.set_fastpath_enabled
)
