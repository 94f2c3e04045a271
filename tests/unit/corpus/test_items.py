"""`named_pictures` and `name_of`: a text is its own name, a picture has that of its file or key."""

import numpy as np

from attnviz.corpus.items import name_of, named_pictures

PICTURE = np.zeros((4, 4, 3), dtype=np.uint8)


def test_name_of_is_the_text_or_the_name_of_the_picture() -> None:
    assert name_of("a dog") == "a dog"
    assert [name_of(item) for item in named_pictures({"cat": PICTURE, 7: PICTURE})] == ["cat", "7"]
    assert [name_of(item) for item in named_pictures(["x/cat.png", PICTURE])] == [
        *("cat.png", "picture 2")
    ]
