"""A page in a notebook: a frame that may run scripts and save files, over a still picture.

In: a page and a PNG. Out: what a notebook displays. The frame is an <iframe srcdoc>: it has no
origin, no cookies and no network. Where a notebook shows no frames (one that is not trusted, a site
that lists notebooks), the picture stays.
"""

import base64
import html
from dataclasses import dataclass

INSIDE = "position:absolute;top:0;left:0"


@dataclass(frozen=True, repr=False)
class NotebookFrame:
    """A page in a notebook; `still` is a PNG of all heads, `height` in CSS pixels."""

    page: str
    still: bytes
    label: str
    height: int

    def __repr__(self) -> str:
        return (
            f"NotebookFrame of {self.label}: {len(self.page) / 1e6:.1f} MB; show it in a notebook"
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """The frame as HTML, and the still picture for what shows no frames."""
        frame = (
            f'<iframe title="{html.escape(self.label)}" sandbox="allow-scripts allow-downloads"'
            f' srcdoc="{html.escape(self.page)}"'
            f' style="{INSIDE};width:100%;height:100%;border:0;background:#fdfdfb"></iframe>'
        )
        return {**pictures(self.still, self.label, self.height, frame), "text/plain": repr(self)}


def pictures(still: bytes, label: str, height: int, over: str = "") -> dict[str, str]:
    """The still picture as HTML and as PNG, by type; `over` is markup that lies on it."""
    picture = base64.b64encode(still).decode()
    box = (
        f'<div style="position:relative;height:{height}px;overflow:hidden">'
        f'<img alt="{html.escape(label)}" src="data:image/png;base64,{picture}"'
        f' style="{INSIDE};max-width:100%;max-height:100%">{over}</div>'
    )
    return {"text/html": box, "image/png": picture}
