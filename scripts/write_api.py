"""Write docs/api/ from the signatures and docstrings of the public names.

    python -m scripts.write_api            # write the pages
    python -m scripts.write_api --check    # exit code 1 if a page is not current

In: the sources of `attnviz`, which are parsed and not imported. Out: one page for each public
module, one entry for each name, and a page that lists them all. A contract test keeps the pages
current and complete.
"""

import ast
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from scripts.write_stub import homes, packages

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "api"
CONTENTS = "README.md"
INTRO = """\
# Public names

Written by `python -m scripts.write_api` from signatures and docstrings: change those, not these
pages. Everything here is exported by `attnviz` or by one of its public modules; anything else may
change. Shapes stand in the annotations: `Float32[np.ndarray, "query key"]` is a float32 array with
a row for each query and a column for each key.
"""
# the order in which a reader meets the names of `attnviz` itself; the errors follow
ORDER = """
load models capture show save read from_attentions derive record Capture LoadedModel Generation
Sound survey embed
experiment circuits NextToken Class Cosine Target Divergence
changed ablate patch pattern cut edit mask
""".split()
# returned by what is exported, each with the package that it is imported from
RESULTS = {
    "Experiment": ("attnviz.experiment", "run"),
    "Answer": ("attnviz.experiment", "answers"),
    "ExperimentSet": ("attnviz.experiment", "sets"),
    "SetResult": ("attnviz.experiment", "set_results"),
    "WordSlot": ("attnviz.experiment", "slots"),
    "DifferenceSlot": ("attnviz.experiment", "slots"),
    "Effects": ("attnviz.experiment", "effects"),
    "Edges": ("attnviz.experiment", "edges"),
    "Patching": ("attnviz.experiment", "patching"),
    "ChangedRun": ("attnviz.experiment", "changed_run"),
    "Paths": ("attnviz.experiment", "paths"),
    "Path": ("attnviz.experiment", "paths"),
    "CutPath": ("attnviz.experiment", "cut_path"),
    "Circuit": ("attnviz.experiment", "circuit"),
    "Direct": ("attnviz.experiment", "direct"),
    "DirectByToken": ("attnviz.experiment", "by_token"),
    "Lens": ("attnviz.experiment", "lens"),
    "Why": ("attnviz.experiment", "why"),
    "TokenScores": ("attnviz.experiment", "tokens"),
    "Component": ("attnviz.experiment", "components"),
    "Circuits": ("attnviz.experiment", "weights_alone.circuits"),
    "TokenCircuit": ("attnviz.experiment", "weights_alone.results"),
    "Composition": ("attnviz.experiment", "weights_alone.results"),
    "ByDistance": ("attnviz.experiment", "weights_alone.results"),
    "TopTokens": ("attnviz.experiment", "weights_alone.results"),
    "Candidate": ("attnviz.experiment", "weights_alone.results"),
    "Folded": ("attnviz.experiment", "weights_alone.results"),
    "AnswerMeasure": ("attnviz.experiment", "answer_measures"),
    "AttentionCall": ("attnviz.attention", "call"),
    "Steps": ("attnviz.attention", "steps"),
    "Verification": ("attnviz.attention", "verification"),
    "Survey": ("attnviz.corpus", "result"),
    "Embedding": ("attnviz.corpus", "embed"),
    "StepView": ("attnviz.types", ""),
    "Tokens": ("attnviz.types", ""),
    "HeadId": ("attnviz.types", ""),
    "ModelCard": ("attnviz.types", ""),
    "ModelKey": ("attnviz.types", ""),
}
# not exported, but attributes of what is
INNER = {
    "Comparison": "attnviz.attention.verification",
    "MissingCall": "attnviz.attention.capture",
    "AttentionInputs": "attnviz.attention.inputs",
    "StoredWeights": "attnviz.attention.stored_weights",
    "Projection": "attnviz.attention.projection",
    "WhatIf": "attnviz.attention.steps",
    "Edit": "attnviz.attention.edits",
    "MapPlaces": "attnviz.corpus.embed",
    "HeadMatch": "attnviz.corpus.result",
    "FrozenPass": "attnviz.experiment.frozen_pass",
    "ChangedNumbers": "attnviz.experiment.changed_run",
    "Interval": "attnviz.metrics.over_texts",
}
# packages that are documented, but no names of `attnviz`
PACKAGES = ("changes",)
# classes whose methods are told of in full
IN_FULL = ("Experiment", "ExperimentSet", "Circuits")
WORDS = "Kind Stack Stage AxisName MaskKind ModelKind Measure Head Where".split()
PROPERTIES = {"property", "cached_property"}
FLAT = 100  # characters of a signature on one line

Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Public:
    """A public name, the module that defines it, and its definition."""

    name: str
    module: str
    node: Definition

    @property
    def doc(self) -> str:
        """The docstring; "" for a constant or an alias."""
        if isinstance(self.node, ast.FunctionDef | ast.ClassDef):
            return ast.get_docstring(self.node) or ""
        return ""

    @property
    def members(self) -> list[ast.FunctionDef]:
        """The public methods and properties of a class."""
        body = self.node.body if isinstance(self.node, ast.ClassDef) else []
        functions = [line for line in body if isinstance(line, ast.FunctionDef)]
        functions = [f for f in functions if "overload" not in map(ast.unparse, f.decorator_list)]
        return [f for f in functions if not f.name.startswith("_") or f.name == "__getitem__"]


@dataclass(frozen=True)
class Page:
    """One page of the reference: the name of its file, its title, what it says and its names."""

    name: str
    title: str
    text: str
    publics: list[Public]


def documents() -> dict[str, str]:
    """The text of every file in docs/api, by its name."""
    found = pages()
    rows = [f"- [{page.title}]({page.name}.md): {', '.join(_links(page))}" for page in found]
    files = {f"{page.name}.md": f"# {page.title}\n\n{page.text}" for page in found}
    return {CONTENTS: "\n".join([INTRO, *rows]) + "\n", **files}


def pages() -> list[Page]:
    """The pages, in the order in which a reader meets them."""
    modules = ["attnviz", *(f"attnviz.{module}" for module in public_modules())]
    return [
        *map(_module_page, modules),
        _page("results", "Results", results()),
        _page("attributes", "Types of attributes", inner_types(), methods=False),
        Page("words", "Words", _block("\n".join(map(_source, words()))), words()),
        _errors_page(),
    ]


def _module_page(module: str) -> Page:
    intro = "" if module == "attnviz" else _prose(ast.get_docstring(_tree(module)) or "") + "\n"
    page = _page(module.removeprefix("attnviz."), module, exported(module))
    return replace(page, text=intro + page.text)


def _page(name: str, title: str, publics: list[Public], methods: bool = True) -> Page:
    entry = _result if name == "results" else partial(_entry, methods=methods)
    return Page(name, title, "\n".join(map(entry, publics)), publics)


def _errors_page() -> Page:
    tree = _prose(ast.get_docstring(_tree("attnviz.errors")) or "")
    rows = [f"- `{public.name}`: {_line(public.doc)}\n" for public in errors()]
    return Page("errors", "Errors", f"{tree}\n{''.join(rows)}", errors())


def _links(page: Page) -> list[str]:
    """The names of a page, each linked to its heading where it has one.

    Of headings that differ only in case, such as `capture` and `Capture`, the second is numbered.
    """
    if page.name in ("words", "errors"):
        return [f"`{public.name}`" for public in page.publics]
    links, seen = [], Counter[str]()
    for public in page.publics:
        anchor = public.name.lower()
        number = f"-{seen[anchor]}" if seen[anchor] else ""
        seen[anchor] += 1
        links.append(f"[`{public.name}`]({page.name}.md#{anchor}{number})")
    return links


def everything() -> list[Public]:
    """Every public name of the reference."""
    return [public for page in pages() for public in page.publics]


def public_modules() -> list[str]:
    """The modules among the public names, and documented packages."""
    named = [name for name, home in homes("attnviz").items() if home == f"attnviz.{name}"]
    return sorted([*named, *PACKAGES])


def exported(module: str) -> list[Public]:
    """The functions, classes and aliases that a module exports, errors aside."""
    if module == "attnviz":
        names = homes(module)
        shown = {*names} - {*public_modules()} - {error.name for error in errors()}
        return [_definition(name, names[name]) for name in sorted(shown, key=ORDER.index)]
    inner = homes(module) if module in packages() else _homes(module)
    names = sorted(inner) if module in packages() else _names(module)
    return [_definition(name, inner[name]) for name in names if name not in homes("attnviz")]


def errors() -> list[Public]:
    """The exceptions."""
    classes = [node for node in _tree("attnviz.errors").body if isinstance(node, ast.ClassDef)]
    return [Public(node.name, "attnviz.errors", node) for node in classes]


def results() -> list[Public]:
    """The types that public functions return."""
    return [
        _definition(name, f"{package}.{module}" if module else package)
        for name, (package, module) in RESULTS.items()
    ]


def inner_types() -> list[Public]:
    """The types of attributes of public classes."""
    return [_definition(name, home) for name, home in INNER.items()]


def words() -> list[Public]:
    """The lists of allowed words that stand in signatures."""
    return [_definition(name, "attnviz.types") for name in WORDS]


def undocumented(publics: Iterable[Public]) -> list[str]:
    """The functions, classes and members without a docstring."""
    missing = []
    for public in publics:
        alias = isinstance(public.node, ast.Assign | ast.AnnAssign)
        missing += [] if public.doc or alias else [public.name]
        bare = [member for member in public.members if not ast.get_docstring(member)]
        missing += [f"{public.name}.{member.name}" for member in bare]
    return missing


def _result(public: Public) -> str:
    """The entry of a result, with the line that imports it."""
    package, _ = RESULTS[public.name]
    title, rest = _entry(public).split("\n", 1)
    return f"{title}\n\n`from {package} import {public.name}`\n{rest}"


def _entry(public: Public, methods: bool = True) -> str:
    node, lines = public.node, [f"## {public.name}\n"]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return "\n".join([*lines, _block(_source(public))])
    if isinstance(node, ast.FunctionDef):
        return "\n".join([*lines, _block(_signature(public, node)), _prose(public.doc)])
    fields = [_segment(public, line) for line in node.body if isinstance(line, ast.AnnAssign)]
    if fields:
        rows = [f"class {public.name}:", *(f"    {field}" for field in fields)]
        lines.append(_block("\n".join(rows)))
    lines.append(_prose(public.doc))
    members = [member for member in public.members if methods or _is_property(member)]
    if public.name in IN_FULL:
        for member in members:
            title = f"### {public.name}.{member.name}\n"
            signature = f"```python\n{_member(public, member)}\n```\n"
            lines += [title, signature, _prose(ast.get_docstring(member) or "")]
        members = []
    for member in members:
        lines.append(f"- `{_member(public, member)}`: {_line(ast.get_docstring(member) or '')}")
    return "\n".join(lines) + ("\n" if members else "")


def _is_property(node: ast.FunctionDef) -> bool:
    return bool({ast.unparse(decorator) for decorator in node.decorator_list} & PROPERTIES)


def _member(public: Public, node: ast.FunctionDef) -> str:
    if _is_property(node):
        return f"{node.name}: {_returned(public, node)}"
    return f"{node.name}({', '.join(_parameters(public, node))}) -> {_returned(public, node)}"


def _signature(public: Public, node: ast.FunctionDef) -> str:
    """The signature, one parameter on a line if it is long."""
    parameters, returned = _parameters(public, node), _returned(public, node)
    flat = f"{node.name}({', '.join(parameters)}) -> {returned}"
    if len(flat) <= FLAT:
        return flat
    rows = [f"{node.name}(", *(f"    {part}," for part in parameters), f") -> {returned}"]
    return "\n".join(rows)


def _parameters(public: Public, node: ast.FunctionDef) -> list[str]:
    """The parameters as they are written, `self` left out."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = [None] * (len(positional) - len(arguments.defaults))
    parts = [
        _parameter(public, argument, default)
        for argument, default in zip(positional, [*first, *arguments.defaults], strict=True)
    ]
    if arguments.posonlyargs:
        parts.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg is not None:
        parts.append(f"*{_parameter(public, arguments.vararg, None)}")
    elif arguments.kwonlyargs:
        parts.append("*")
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    parts += [_parameter(public, argument, default) for argument, default in keywords]
    if arguments.kwarg is not None:
        parts.append(f"**{_parameter(public, arguments.kwarg, None)}")
    return [part for part in parts if part not in ("self", "cls")]


def _parameter(public: Public, argument: ast.arg, default: ast.expr | None) -> str:
    value = "" if default is None else f" = {_segment(public, default)}"
    return _segment(public, argument) + value


def _returned(public: Public, node: ast.FunctionDef) -> str:
    assert node.returns is not None, node.name
    returned = _segment(public, node.returns).strip("\"'")
    if "contextmanager" in {ast.unparse(decorator) for decorator in node.decorator_list}:
        return returned.replace("Iterator[", "AbstractContextManager[")
    return returned


def _source(public: Public) -> str:
    return _segment(public, public.node)


def _segment(public: Public, node: ast.expr | ast.stmt | ast.arg) -> str:
    """The source of a node on one line; `ast.get_source_segment` reads all lines each time."""
    assert node.end_lineno is not None, public.name
    lines = _lines(public.module)[node.lineno - 1 : node.end_lineno]
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    text = b" ".join(lines).decode()
    return " ".join(text.split()).replace("[ ", "[").replace(", ]", "]")


def _block(code: str) -> str:
    return f"```python\n{code}\n```\n"


def _prose(doc: str) -> str:
    """A docstring as Markdown; examples become blocks."""
    lines: list[str] = []
    inside = False
    for line in doc.splitlines():
        if line.startswith(">>>") and not inside:
            lines, inside = [*lines, "```pycon"], True
        elif inside and not line:
            lines, inside = [*lines, "```"], False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines) + "\n"


def _line(doc: str) -> str:
    """A docstring as one line, its examples left out."""
    return " ".join(textwrap.dedent(doc).split(">>>")[0].split())


def _path(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    package = path / "__init__.py"  # a folder alone may be left of one that is a module now
    return package if package.exists() else path.with_suffix(".py")


@cache
def _lines(module: str) -> list[bytes]:
    """The lines of a module as bytes, which the places of nodes count."""
    return _path(module).read_bytes().splitlines()


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_path(module).read_bytes())


@cache
def _homes(module: str) -> dict[str, str]:
    """The names that a package imports or defines, with the module of each."""
    homes: dict[str, str] = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attnviz"):
            homes |= {alias.name: str(node.module) for alias in node.names}
    defined = (ast.FunctionDef, ast.ClassDef)
    homes |= {node.name: module for node in _tree(module).body if isinstance(node, defined)}
    return homes


@cache
def _names(module: str) -> list[str]:
    """The names in a module's `__all__`."""
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    raise LookupError(f"{module} has no __all__")


def _definition(name: str, module: str) -> Public:
    """The definition of a name; of several, as of a function with overloads, the last."""
    for node in reversed(_tree(module).body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [ast.unparse(target) for target in node.targets]
        else:
            names = [ast.unparse(node.target)] if isinstance(node, ast.AnnAssign) else []
        if name in names:
            assert isinstance(node, Definition)
            return Public(name, module, node)
    raise LookupError(f"{module} defines no {name}")


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them; the exit code."""
    texts = documents()
    if "--check" in arguments:
        return int(_written() != texts)
    TARGET.mkdir(exist_ok=True)
    for name in _written().keys() - texts.keys():
        (TARGET / name).unlink()
    for name, text in texts.items():
        (TARGET / name).write_text(text, encoding="utf-8")
    return 0


def _written() -> dict[str, str]:
    """The pages that are there, by their names."""
    return {path.name: path.read_text(encoding="utf-8") for path in TARGET.glob("*.md")}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
