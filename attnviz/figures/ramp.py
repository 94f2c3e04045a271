"""The colour ramps of the screen, for pictures that Python draws: the same 256 colours.

In: weights, or signed numbers with their limit. Out: indices 0..255 into a table of sRGB colours.
The stops are those of `pictures/shared/colors.js`, interpolated in OKLab (Ottosson 2020) so that
equal steps look equal; a test holds the 256 entries of each table against the browser's own.
"""

from functools import cache
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, UInt8

Ramp = Literal["light", "dark", "diverging_light", "diverging_dark"]
RAMPS: tuple[Ramp, ...] = get_args(Ramp)
Scale = Literal["linear", "sqrt", "log"]
SCALES: tuple[Scale, ...] = get_args(Scale)
LOG_FLOOR = 1e-4  # weights at or below are the first colour of the log scale
LEVELS = 256

STOPS: dict[Ramp, tuple[tuple[float, str], ...]] = {
    "light": (
        (0, "#f6f9fb"), (0.14, "#d6ecea"), (0.34, "#93d0ca"), (0.54, "#4ba2b7"),
        (0.73, "#316c9f"), (0.89, "#31407c"), (1, "#1d1a42"),
    ),
    "dark": (
        (0, "#161b27"), (0.14, "#212c4e"), (0.34, "#2b4f8c"), (0.54, "#2c82a8"),
        (0.74, "#4cb9ae"), (0.9, "#b4e5bb"), (1, "#fcfde2"),
    ),
    "diverging_light": (
        (0, "#7a3b06"), (0.2, "#c9762a"), (0.37, "#efc292"), (0.5, "#f7f7f6"),
        (0.63, "#a9cbe8"), (0.8, "#3f7fc0"), (1, "#10386e"),
    ),
    "diverging_dark": (
        (0, "#ffae45"), (0.2, "#d27c2c"), (0.37, "#7a4718"), (0.5, "#1b1f2a"),
        (0.63, "#1f4a80"), (0.8, "#4b93dd"), (1, "#70bdff"),
    ),
}  # fmt: skip

# linear sRGB → responses of the three cones → OKLab, and back (Ottosson 2020)
_CONES = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
_LAB = np.array([
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
])  # fmt: skip
_CONES_OF_LAB = np.array([
    [1.0, 0.3963377774, 0.2158037573],
    [1.0, -0.1055613458, -0.0638541728],
    [1.0, -0.0894841775, -1.291485548],
])  # fmt: skip
_RGB = np.array([
    [4.0767416621, -3.3077115913, 0.2309699292],
    [-1.2684380046, 2.6097574011, -0.3413193965],
    [-0.0041960863, -0.7034186147, 1.707614701],
])  # fmt: skip


@cache
def table(ramp: Ramp) -> UInt8[np.ndarray, "level rgb"]:
    """The 256 colours of a ramp, as sRGB bytes."""
    stops = [place for place, _ in STOPS[ramp]]
    colours = np.array([rgb(colour) for _, colour in STOPS[ramp]]) / 255
    lab = np.cbrt(_linear(colours) @ _CONES.T) @ _LAB.T
    places = np.arange(LEVELS) / (LEVELS - 1)
    between = np.stack([np.interp(places, stops, lab[:, part]) for part in range(3)], axis=1)
    cones = (between @ _CONES_OF_LAB.T) ** 3
    linear = cones @ _RGB.T
    bright = 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055
    coded = np.where(linear <= 0.0031308, 12.92 * linear, bright)  # as sRGB does
    table_of: np.ndarray = np.floor(255 * np.clip(coded, 0, 1) + 0.5).astype(np.uint8)
    table_of.setflags(write=False)
    return table_of


def rgb(colour: str) -> tuple[int, int, int]:
    """The three bytes of a colour such as "#1d1a42"."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return red, green, blue


def _linear(colours: Float[np.ndarray, "stop rgb"]) -> Float[np.ndarray, "stop rgb"]:
    linear: np.ndarray = np.where(
        colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4
    )
    return linear


def places(weights: Float[np.ndarray, "*shape"], scale: Scale) -> Float[np.ndarray, "*shape"]:
    """Where weights 0..1 lie on the ramp, 0..1."""
    clipped = np.asarray(np.clip(weights, 0, 1))
    if scale == "linear":
        return clipped
    if scale == "sqrt":
        return np.asarray(np.sqrt(clipped))
    logarithms = np.log10(np.maximum(clipped, LOG_FLOOR)) / np.log10(LOG_FLOOR)
    return np.asarray(1 - logarithms)


def levels(weights: Float[np.ndarray, "*shape"], scale: Scale) -> UInt8[np.ndarray, "*shape"]:
    """The index of each weight's colour; NaN counts as 0."""
    exact = 255 * places(np.nan_to_num(weights), scale)
    return np.asarray(np.floor(exact + 0.5).astype(np.uint8))


def signed_levels(values: Float[np.ndarray, "*shape"], limit: float) -> UInt8[np.ndarray, "*shape"]:
    """The index of each signed number's colour; ±limit are the two ends, NaN and ±∞ the middle."""
    finite = np.where(np.isfinite(values), values, 0)
    shares = np.clip(finite / limit, -1, 1) if limit > 0 else np.zeros_like(finite)
    return np.asarray(np.floor(127.5 + 127.5 * shares + 0.5).astype(np.uint8))
