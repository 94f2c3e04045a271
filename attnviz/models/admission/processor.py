"""The rules for the files of image processors and feature extractors.

In: the object of `preprocessor_config.json` or `processor_config.json`. Out: the same without texts
that attnviz does not pass on; or an error. A picture is resized to what these files say, whatever
its own size.
"""

import re
from typing import Any

from attnviz.models.admission import json_files as js
from attnviz.models.admission.json_files import Json

MAX_SIDE_PX = 4096
MAX_PIXELS = 2**25
MAX_NUMBERS = 2**20  # of a table, as old Whisper models store their mel filters
MAX_OTHER = 2**24
SIDES = re.compile(r"(image_|crop_|tile_|pad_|max_)?size|height|width|(shortest|longest)_edge")
# these types count pixels where others count the pixels of a side
BY_AREA = re.compile(r"(Qwen2VL|Glm4|Qwen2_5|Qwen3|Video)")
TEXTS = re.compile(
    r".*_type|.*_class|padding_side|return_tensors|data_format|resample|.*_token|padding|model_input_names"
)


def admit(file: str, processor: Json) -> Json:
    """The settings; raises for sizes that no model needs."""
    by_area = BY_AREA.match(str(processor.get("image_processor_type", "")))
    js.require_count(file, "{}", processor, 1024)
    for count, (path, key, value) in enumerate(js.walk(processor)):
        if count > MAX_NUMBERS:
            raise js.out_of_range(file, path, count, 0, MAX_NUMBERS)
        if isinstance(value, int) and not isinstance(value, bool):
            is_side = SIDES.fullmatch(key) or ("size" in path and key != "feature_size")
            most = (MAX_PIXELS if by_area else MAX_SIDE_PX) if is_side else MAX_OTHER
            js.require_at_most(file, path, value, MAX_PIXELS if "pixels" in key else most)
    kept: Json = _without_texts(processor)
    return kept


def _without_texts(value: Any, key: str = "") -> Any:
    """The settings without texts that are no names of a type."""
    if isinstance(value, dict):
        return {
            name: _without_texts(child, name)
            for name, child in value.items()
            if not isinstance(child, str) or TEXTS.fullmatch(name)
        }
    return value
