"""A survey as a file: itself (.npz), or its table of heads for other programs (.csv, .json).

In: a survey. Out: the bytes of the file. `survey.archive` reads an .npz again.
"""

import csv
import io
import json
from io import BufferedIOBase

from attnviz.errors import BadInput
from attnviz.survey.archive import survey_bytes
from attnviz.survey.result import Survey

ENDINGS = (".npz", ".csv", ".json")


def write(survey: Survey, file: BufferedIOBase, ending: str) -> None:
    """Write the kind of file that the ending names; `BadInput` for another ending."""
    if ending == ".npz":
        file.write(survey_bytes(survey))
    elif ending == ".csv":
        file.write(_csv(survey).encode())
    elif ending == ".json":
        file.write(_json(survey).encode())
    else:
        raise BadInput(
            f"a survey cannot be saved as {ending or 'a file without an ending'!r}; give one of"
            f" {', '.join(ENDINGS)}",
            code="bad_ending",
            found=ending,
            allowed=", ".join(ENDINGS),
        )


def _csv(survey: Survey) -> str:
    """One row for each head; an empty cell where no text has a measure."""
    columns = survey.table().to_dict()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow("" if cell != cell else cell for cell in row)  # NaN is not itself
    return text.getvalue()


def _json(survey: Survey) -> str:
    columns = survey.table().to_dict()
    rows = [
        {name: None if cell != cell else cell for name, cell in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]
    counts = {"model": survey.model.id, "texts": survey.n_text, "tokens": survey.n_token}
    return json.dumps({**counts, "heads": rows}, allow_nan=False)
