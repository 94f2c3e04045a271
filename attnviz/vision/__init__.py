"""The places of tokens in a picture: `token_boxes` for patches and blocks, `windows` for windows.

In: grids of patches as a model's layers use them. Out: names and boxes of tokens. numpy only.
"""
