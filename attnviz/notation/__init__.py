"""The machinery that every text form in an address shares (no torch, no numpy).

A text form is a value written as one line: edits ("q.3.5=0.7,k.0.1=2"), masks, the calculator's
sheet, a learner's answers, a presenter's selection. Each declares a `TextForm` (separator, limits,
error) and parses its entries with the small parsers below. All text is hostile: what is too long,
has too many entries or is no entry is refused as `BadInput`, in one form.
`json_fields` reads untrusted JSON likewise, a value at a time.
"""

from attnviz.notation.text_form import (
    TextForm,
    escape,
    index,
    indices,
    number,
    refusal,
    unescape,
    write_indices,
    write_number,
)

__all__ = [
    "TextForm",
    "escape",
    "index",
    "indices",
    "number",
    "refusal",
    "unescape",
    "write_indices",
    "write_number",
]
