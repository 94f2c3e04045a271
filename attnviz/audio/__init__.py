"""Sound as numbers: `sound` has samples, resampling and spectrograms, `wav` reads files.

In: the bytes of a file, or a formula. Out: float32 samples in −1..1 with their rate. numpy only.
"""
