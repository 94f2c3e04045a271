"""The exports of attnviz: capture files, numbers and figures; and captures made from other tools.

`save` writes a file by the ending of its name: its table `ENDINGS` lists every format.
`capture_file` reads a capture back without its model, `tables` writes weights as numbers,
`pictures` as figures for print, `page` as a file that browsers open, and `from_tools` makes a
capture of tensors that another tool kept. Nothing here runs a model or reaches a network.
"""
