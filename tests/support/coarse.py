"""Tiny vision models whose tokens are not one patch after the other, with random weights.

Keys that are blocks of patches, made by a convolution, by pooling, by kernels that overlap; windows
whose tokens stand in an order of the model's own.
"""

from collections.abc import Callable

from transformers import (
    CvtConfig,
    CvtForImageClassification,
    GLPNConfig,
    GLPNForDepthEstimation,
    HieraConfig,
    HieraForImageClassification,
    PreTrainedModel,
    PvtConfig,
    PvtForImageClassification,
    PvtV2Config,
    PvtV2ForImageClassification,
    SegformerConfig,
    SegformerForImageClassification,
)

SIDE = 64
NAMES = ("segformer", "pvt", "pvt_v2", "pvt_v2_pooled", "glpn", "cvt", "hiera")


def coarse() -> dict[str, Callable[[], PreTrainedModel]]:
    """Each of `NAMES`, built when it is called; 16 × 16 patches in the first layer."""
    shape = {"hidden_sizes": [16, 32, 32, 48], "num_attention_heads": [1, 2, 4, 4]}
    shape |= {"depths": [1, 1, 1, 1], "mlp_ratios": [2] * 4}
    coarser = [8, 4, 2, 1]
    return {
        "segformer": lambda: SegformerForImageClassification(
            SegformerConfig(**shape, sr_ratios=coarser, num_labels=3)
        ),
        "pvt": lambda: PvtForImageClassification(
            PvtConfig(**shape, sequence_reduction_ratios=coarser, image_size=SIDE, num_labels=3)
        ),
        "pvt_v2": lambda: PvtV2ForImageClassification(PvtV2Config(**shape, sr_ratios=coarser)),
        "pvt_v2_pooled": lambda: PvtV2ForImageClassification(
            PvtV2Config(**shape, linear_attention=True)
        ),
        "glpn": lambda: GLPNForDepthEstimation(
            GLPNConfig(**shape, sr_ratios=coarser, decoder_hidden_size=16)
        ),
        "cvt": lambda: CvtForImageClassification(
            CvtConfig(embed_dim=[16, 32, 48], num_heads=[1, 2, 4], depth=[1, 2, 3])
        ),
        "hiera": lambda: HieraForImageClassification(
            HieraConfig(
                embed_dim=16, image_size=[SIDE] * 2, depths=[1, 2, 2, 1], num_heads=[1, 2, 4, 4]
            )
        ),
    }
