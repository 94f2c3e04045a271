"""Weights as numbers: numpy archives, spreadsheets and JSON.

`entries` says which heads of a capture are written, and with which tokens; `archive` writes them as
npz, `spreadsheet` as CSV, `document` as JSON. Each refuses what would make an absurd file, and says
what to do instead.
"""
