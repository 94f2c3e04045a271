"""A formula in TeX as MathML, which every current browser sets without a script or a font of ours.

In: TeX. Out: HTML. Only elements and attributes of plain formulas pass, all text is escaped: the
converter's own serialisation is not used, since it unescapes what was typed. A command that the
converter does not know, or TeX that it cannot read, leaves the formula as it was typed, between
dollar signs. Sources: https://www.w3.org/TR/mathml-core, latex2mathml.
"""

from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

ELEMENTS = frozenset(
    (
        "math mrow mi mn mo mtext mspace msub msup msubsup munder mover munderover mfrac msqrt"
        " mroot mtable mtr mtd mstyle mpadded mphantom menclose"
    ).split()
)
ATTRIBUTES = frozenset(
    (
        "display mathvariant stretchy accent accentunder fence form separator movablelimits"
        " linethickness lspace rspace minsize maxsize symmetric largeop width height depth"
        " columnalign columnspacing rowspacing displaystyle scriptlevel notation"
    ).split()
)


def formula(tex: str, *, display: bool = False) -> str:
    """The formula as MathML; as it was typed, in code, where it cannot be read.

    >>> formula("d_k").endswith("<msub><mi>d</mi><mi>k</mi></msub></mrow></math>")
    True
    """
    root = _tree(tex, display)
    if root is None:
        dollars = "$$" if display else "$"
        return f"<code>{escape(dollars + tex + dollars)}</code>"
    return tostring(root, encoding="unicode")


def _tree(tex: str, display: bool) -> Element | None:
    """The formula's MathML; None if it cannot be read or holds more than a plain formula."""
    from latex2mathml.converter import convert_to_element  # hardly any lesson has a formula

    try:
        root = convert_to_element(tex, display="block" if display else "inline")
    except Exception:  # its own exceptions, StopIteration, TypeError: what its parser stumbles on
        return None
    root.attrib.pop("xmlns", None)  # HTML needs none
    for element in root.iter():
        # the converter writes signs as references such as &#x02264;
        element.text = unescape(element.text or "")
        is_unknown = element.text.startswith("\\") and element.text != "\\"
        if is_unknown or element.tag not in ELEMENTS or not ATTRIBUTES.issuperset(element.attrib):
            return None
    return root
