"""Symbols of the lessons' sentences as formulas: W_Q with a real subscript, 10⁻¹⁶ for 1e−16.

In: a template, or a number as Python writes it. Out: the template with its symbols as TeX between
dollar signs, which the app and worksheets set; the number with a power of ten. Code, and the names
of placeholders, stay as they are.
"""

import re

# programs and placeholders
KEPT = re.compile(r"(`[^`]*`|\[\[[^\]]*\]\])")
SYMBOL = re.compile(
    r"(?P<root>√)?(?<![\w$])(?P<name>[WU]|[dD]|b|head)_"
    r"(?P<index>[QKVO](?:,i)?|qkv|msa|model|[kvhiV]|[01])(?![A-Za-z0-9_])"
)
POWER = re.compile(r"(?P<base>\d+)\^\((?P<exponent>[^()]+)\)")
TEN = re.compile(r"(?P<sign>[-−]?)(?P<digits>\d(?:\.\d+)?)e(?P<minus>[-−+])0*(?P<exponent>\d+)")
MATHRM, ROOT = re.compile(r"\\mathrm\{(\w+)\}"), re.compile(r"\\sqrt\{(\w+)\}")
RAISED_PART, INDEX = re.compile(r"\^\{([^{}]*)\}"), re.compile(r"_\{([\w,]+)\}")
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def with_formulas(template: str) -> str:
    """The template with its symbols as TeX.

    >>> with_formulas("Divide by √d_k, then W_O.")
    'Divide by $\\\\sqrt{d_k}$, then $W_O$.'
    """
    parts = KEPT.split(template)
    parts[::2] = (
        POWER.sub(r"$\g<base>^{\g<exponent>}$", SYMBOL.sub(_symbol, part)) for part in parts[::2]
    )
    return "".join(parts)


def _symbol(match: re.Match[str]) -> str:
    name, index = match["name"], match["index"]
    name = r"\mathrm{head}" if name == "head" else name
    if index == "model":
        index = r"\mathrm{model}"
    tex = f"{name}_{index}" if len(index) == 1 else f"{name}_{{{index}}}"
    return rf"$\sqrt{{{tex}}}$" if match["root"] else f"${tex}$"


def typed(tex: str) -> str:
    """A formula of `with_formulas` as it was typed, where only text can stand.

    >>> typed(r"\\sqrt{d_k}"), typed(r"d_{\\mathrm{model}}"), typed("10000^{2i/d}")
    ('√d_k', 'd_model', '10000^(2i/d)')
    """
    text = ROOT.sub(r"√\1", MATHRM.sub(r"\1", tex))
    return INDEX.sub(r"_\1", RAISED_PART.sub(r"^(\1)", text))


def with_power(number: str) -> str:
    """A number that Python wrote, with a power of ten in place of its e.

    >>> with_power("2e-07"), with_power("1e-16"), with_power("0e+00"), with_power("0.5")
    ('2·10⁻⁷', '10⁻¹⁶', '0', '0.5')
    """
    return TEN.sub(_ten, number)


def _ten(match: re.Match[str]) -> str:
    digits, exponent = match["digits"], match["exponent"]
    if not digits.strip("0."):
        return "0"
    minus = "" if match["minus"] == "+" else "⁻"
    ten = f"10{minus}{exponent.translate(RAISED)}"
    return match["sign"] + (ten if digits == "1" else f"{digits}·{ten}")
