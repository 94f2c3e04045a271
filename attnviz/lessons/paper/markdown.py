"""The Markdown of the lessons as HTML: what their texts use, and nothing that could run.

In: a filled text of `content`. Out: HTML in which everything is escaped but for the tags made here:
paragraphs, lists, tables, code, bold, italics, and formulas between dollar signs, set with plain
signs. Links become their words with the address behind them: paper has no links.
Source: the subset of CommonMark and of GitHub's tables that course texts are written in.
"""

import re
from collections.abc import Callable, Iterator
from html import escape, unescape

INLINE = re.compile(
    r"\\(?P<literal>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?P=ticks)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|\$(?P<math>(?=\S)(?:\\.|[^$\\])+?)(?<=\S)\$(?!\d)"
    r"|\*\*(?P<strong>(?=\S)(?:\\.|[^\\])+?)(?<=\S)\*\*"
    r"|\*(?P<em>(?=\S)(?:\\.|[^\\*])+?)(?<=\S)\*"
    r"|\[(?P<words>[^\]]+)\]\((?P<address>[^)\s]+)\)",
    flags=re.DOTALL,
)
ITEM = re.compile(r"(?P<mark>[-*+]|\d+[.)])\s+(?P<rest>.*)")
RULE = re.compile(r"\|?[\s:|-]*-[\s:|-]*")
FENCE = "```"
TAG = re.compile(r"<[^<>]*>")
SIGNS = {
    **{"cdot": "·", "times": "×", "infty": "∞", "sum": "Σ", "top": "T", "to": "→", "approx": "≈"},
    **{"le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠", "in": "∈", "pm": "±", "div": "÷"},
    **{
        "alpha": "α",
        "beta": "β",
        "gamma": "γ",
        "sigma": "σ",
        "theta": "θ",
        "mu": "μ",
        "ldots": "…",
    },
    **{"left": "", "right": "", "quad": " ", "mathbb": "", "mathrm": "", "text": "", "exp": "exp"},
    **{"operatorname": "", "log": "log", "sin": "sin", "cos": "cos", "max": "max", ",": " "},
}
GROUP = r"\{([^{}]*)\}"


def html(source: str) -> str:
    """A text as HTML blocks.

    >>> html("It **sums** to 1.")
    '<p>It <strong>sums</strong> to 1.</p>'
    """
    return "\n".join(_block(lines) for lines in _blocks(source.splitlines()))


def inline(source: str) -> str:
    """A line as HTML, without a paragraph around it."""
    out, end = [], 0
    for found in INLINE.finditer(source):
        out += [escape(source[end : found.start()]), _tag(found)]
        end = found.end()
    return "".join([*out, escape(source[end:])])


def plain(source: str) -> str:
    """A line without its markup, for places that hold text only.

    >>> plain(r"**scores** of \\<b\\>")
    'scores of <b>'
    """
    return unescape(TAG.sub("", inline(source)))


def _tag(found: re.Match[str]) -> str:
    name = next(name for name, part in found.groupdict().items() if part is not None)
    made: dict[str, Callable[[], str]] = {
        "literal": lambda: escape(found["literal"]),
        "ticks": lambda: f"<code>{escape(found['code'])}</code>",
        "display": lambda: f'<span class="formula">{formula(found["display"])}</span>',
        "math": lambda: f"<i>{formula(found['math'])}</i>",
        "strong": lambda: f"<strong>{inline(found['strong'])}</strong>",
        "em": lambda: f"<em>{inline(found['em'])}</em>",
        "words": lambda: f"{inline(found['words'])} ({escape(found['address'])})",
    }
    return made[name]()


def formula(tex: str) -> str:
    r"""A formula in plain signs, with its sub- and superscripts.

    >>> formula(r"\frac{QK^\top}{\sqrt{d_k}}")
    '(QK<sup>T</sup>) / (√(d<sub>k</sub>))'
    """
    out = escape(tex.strip())
    out = re.sub(r"\\([_%#&])", r"\1", out)
    for _ in range(4):  # groups inside groups
        out = re.sub(rf"\\sqrt\s*{GROUP}", r"√(\1)", out)
        out = re.sub(rf"\\[dt]?frac\s*{GROUP}\s*{GROUP}", r"(\1) / (\2)", out)
        out = re.sub(rf"_{GROUP}", r"<sub>\1</sub>", out)
        out = re.sub(rf"\^{GROUP}", r"<sup>\1</sup>", out)
        out = re.sub(rf"\\(?:text|mathrm|operatorname|mathbb|mathbf){GROUP}", r"\1", out)
    out = re.sub(r"([_^])\\?([A-Za-z]+|\d|[^\W_])", _script, out)
    out = re.sub(r"\\([A-Za-z]+|,)", lambda found: SIGNS.get(found[1], found[1]), out)
    return out.replace("{", "").replace("}", "").replace("\\", "")


def _script(found: re.Match[str]) -> str:
    tag = "sub" if found[1] == "_" else "sup"
    named = found[0][1] == "\\"
    sign = SIGNS.get(found[2], found[2]) if named else found[2][0]
    return f"<{tag}>{sign}</{tag}>" + ("" if named else found[2][1:])


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines that belong together: split at empty lines, before a list, around fenced code."""
    block: list[str] = []
    fenced = False
    for line in lines:
        if line.startswith(FENCE):
            fenced = not fenced
        starts = not fenced and _is_list([line]) and not _is_list(block)
        if not fenced and (not line.strip() or starts):
            if block:
                yield block
            block = [line] if starts else []
        else:
            block.append(line)
    if block:
        yield block


def _is_list(block: list[str]) -> bool:
    """A list that counts begins with 1: "10. The rest stays open." is a sentence."""
    found = ITEM.match(block[0]) if block else None
    return found is not None and (found["mark"] in "-*+" or found["mark"][:-1] == "1")


def _block(lines: list[str]) -> str:
    if lines[0].startswith(FENCE):
        body = [line for line in lines[1:] if not line.startswith(FENCE)]
        return f"<pre>{escape(chr(10).join(body))}</pre>"
    if _is_list(lines):
        return _list(lines)
    if len(lines) > 1 and "|" in lines[0] and RULE.fullmatch(lines[1].strip()):
        return _table(lines)
    heading = re.match(r"#{1,6}\s+(.*)", lines[0])
    if heading:
        rest = _block(lines[1:]) if lines[1:] else ""
        return f"<p><strong>{inline(heading[1])}</strong></p>{rest}"
    return f"<p>{inline(chr(10).join(line.removeprefix('> ') for line in lines))}</p>"


def _list(lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        found = ITEM.match(line)
        if found:
            items.append(found["rest"])
        else:
            items[-1] += f"\n{line.strip()}"
    tag = "ol" if lines[0][0].isdigit() else "ul"
    return f"<{tag}>{''.join(f'<li>{inline(item)}</li>' for item in items)}</{tag}>"


def _table(lines: list[str]) -> str:
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in (lines[0], *lines[2:])
    ]
    tags = ["th", *["td"] * (len(rows) - 1)]
    made = (
        "".join(f"<{tag}>{inline(cell)}</{tag}>" for cell in row)
        for tag, row in zip(tags, rows, strict=True)
    )
    return f'<table class="text">{"".join(f"<tr>{row}</tr>" for row in made)}</table>'
