"""Where a recorded call stands in its model, and which layers computed its q, k, v and output.

In: recorded calls, and hooks on the layers around them. Out: the projections W_Q, W_K, W_V and W_O,
the stack and kind of each call, the windows of a picture, and the places of keys that are blocks of
patches.
"""
