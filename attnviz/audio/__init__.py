"""Sound as numbers: `sound` has samples, resampling and spectrograms, `wav` reads and writes files.

In: bytes of a file or a formula. Out: float32 samples in −1..1 with their rate. numpy only.
"""
