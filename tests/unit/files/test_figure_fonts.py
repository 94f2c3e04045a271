"""`save`: what a figure for print has of its fonts, as the docstring says."""

from pathlib import Path

import attnviz


def test_text_of_several_heads_stays_text_in_svg_and_has_its_fonts_in_pdf(tmp_path: Path) -> None:
    cap = attnviz.capture("stories", "Tom has a ball")
    svg = attnviz.save(cap, tmp_path / "some.svg", heads=["L0.H1", "L2.H1"]).read_text("utf-8")
    assert "<text" in svg and 'font-family="Helvetica' in svg and "@font-face" not in svg
    pdf = attnviz.save(cap, tmp_path / "some.pdf", heads=["L0.H1", "L2.H1"]).read_bytes()
    assert b"/FontFile" in pdf
    assert attnviz.save.__doc__ and "text in\n      an .svg stays text" in attnviz.save.__doc__
