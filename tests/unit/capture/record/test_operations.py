"""What recorded operations of torch are read as."""

import torch

from attnviz.capture.record.operations import convolution


def test_a_convolution_is_a_layer_over_the_channels_of_each_place() -> None:
    x, kernel = torch.randn(2, 3, 5, 7), torch.randn(11, 3, 1, 1)
    run = convolution((x, kernel), torch.conv2d(x, kernel))
    assert torch.allclose(run.written, run.read @ kernel[:, :, 0, 0].T, atol=1e-5)
