"""The base of all canvases: their data packed, their scripts joined, selections, views of heads.

The JavaScript and styles of this folder are those that several canvases import.
"""
