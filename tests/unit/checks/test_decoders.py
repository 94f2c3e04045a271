"""The measures of decoders that need no model."""

import numpy as np

from attnviz.checks import decoders


def test_repeated_tokens_come_twice_and_never_include_the_first() -> None:
    ids = decoders.repeated_tokens(np.random.default_rng(2), 23, n_texts=17, length=13, bos=5)
    assert ids.shape == (17, 27)
    assert (ids[:, 0] == 5).all()
    assert (ids[:, 1:14] == ids[:, 14:]).all()
    assert set(np.unique(ids[:, 1:])) == set(range(23)) - {5}
