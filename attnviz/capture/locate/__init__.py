"""Where a recorded call stands in its model, and which layers made its q, k, v and output.

In: recorded calls and the linear layers that ran. Out: projections W_Q, W_K, W_V, W_O, stack and
kind of each call, the windows of a picture and blocks of patches as keys.
"""
