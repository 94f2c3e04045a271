"""docs/api/ is written from the code: current, complete, and nothing in it is gone."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import attnviz
from attnviz import changes, compare, figures, masks, metrics, tiles
from scripts import write_api
from tests.contracts import project

MODULES = (changes, compare, figures, masks, metrics, tiles)


def pages() -> dict[str, str]:
    """The pages of the reference, by their names."""
    docs = project.docs()
    return {Path(name).name: text for name, text in docs.items() if name.startswith("docs/api/")}


def document() -> str:
    return "\n".join(pages().values())


def test_the_reference_is_current() -> None:
    assert pages() == write_api.documents(), "run `python -m scripts.write_api`"
    assert write_api.main(["--check"]) == 0


@pytest.mark.slow  # imports and writes every page twice
def test_main_writes_what_check_accepts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_api, "TARGET", tmp_path / "api")
    assert write_api.main([]) == 0 and write_api.main(["--check"]) == 0
    (tmp_path / "api" / "gone.md").write_text("of a module that was removed", encoding="utf-8")
    assert write_api.main(["--check"]) == 1, "a page too many"
    assert write_api.main([]) == 0 and write_api.main(["--check"]) == 0
    (tmp_path / "api" / "masks.md").unlink()
    assert write_api.main(["--check"]) == 1, "a page too few"


def test_the_contents_lead_to_every_name() -> None:
    """Each public name once, linked to a heading of its page where it has one."""
    contents = pages()[write_api.CONTENTS]
    for page in write_api.pages():
        assert f"[{page.title}]({page.name}.md)" in contents
    linked = re.findall(r"\[`(\w+)`\]\(([\w.]+)#([\w-]+)\)", contents)
    for name, page, anchor in linked:
        headings = re.findall(r"^## (\w+)$", pages()[page], flags=re.MULTILINE)
        alike = [heading for heading in headings if heading.lower() == name.lower()]
        number = alike.index(name)
        assert anchor == name.lower() + (f"-{number}" if number else "")
    assert ("Capture", "attnviz.md", "capture-1") in linked
    plain = re.findall(r"(?<!\[)`(\w+)`(?!\])", contents.split("- [attnviz]")[1])
    assert sorted([*plain, *(name for name, _, _ in linked)]) == sorted(
        public.name for public in write_api.everything()
    )


def test_the_reference_has_exactly_the_exported_names() -> None:
    exported = {*attnviz.__all__, *(name for module in MODULES for name in module.__all__)}
    titles = re.findall(r"^## (\w+)$", document(), flags=re.MULTILINE)
    assert len(set(titles)) == len(titles)
    listed = {*titles, *re.findall(r"^# attnviz\.(\w+)$", document(), flags=re.MULTILINE)}
    listed |= {public.name for public in (*write_api.words(), *write_api.errors())}
    assert not exported - listed
    others = {*write_api.RESULTS, *write_api.INNER, *write_api.WORDS}
    assert listed - exported - {"changes"} == others | (
        {error.name for error in write_api.errors()} - exported
    )


def test_every_result_of_an_effect_or_attribution_has_its_members() -> None:
    """The types that `attnviz` functions return stand in the reference, with their methods."""
    text = document()
    returned = {
        public.node.returns.id
        for public in write_api.exported("attnviz")
        if isinstance(public.node, ast.FunctionDef) and isinstance(public.node.returns, ast.Name)
    }
    titles = set(re.findall(r"^## (\w+)$", text, flags=re.MULTILINE))
    plain = {"bool", "int", "str", "float", "None", "object"}
    assert not returned - titles - plain - set(changes.__all__)
    assert re.search(r"^- `of\(head: Where\) -> float`", text, flags=re.MULTILINE)
    assert re.search(r"^- `roles\(head: Head \| int\)", text, flags=re.MULTILINE)


def test_the_public_modules_are_those_that_the_reference_reads() -> None:
    assert write_api.public_modules() == [module.__name__.split(".")[1] for module in MODULES]


def test_every_public_member_has_a_docstring() -> None:
    publics = write_api.everything()
    assert sum(len(public.members) for public in publics) > 80
    assert not write_api.undocumented(publics)


def test_a_member_without_a_docstring_is_found() -> None:
    source = """
class Bare:
    '''Documented.'''

    @property
    def name(self) -> str:
        return "x"

    def run(self) -> None:
        '''Documented.'''

    def _private(self) -> None: ...
"""
    bare = write_api.Public("Bare", "x", ast.parse(source).body[0])
    assert write_api.undocumented([bare]) == ["Bare.name"]


def test_docstrings_state_and_do_not_ask() -> None:
    """The first line of `write_api.Public.doc` says what is returned or done."""
    opening = re.compile(r"(What|Which|Whether|How)\b")
    publics = write_api.everything()
    docs = {public.name: public.doc for public in publics} | {
        f"{public.name}.{member.name}": ast.get_docstring(member) or ""
        for public in publics
        for member in public.members
    }
    assert not [name for name, doc in docs.items() if opening.match(doc)]


def loose_parameters(public: write_api.Public) -> list[str]:
    """The parameters of a function or of a class's members that an editor can say nothing of."""
    functions = [public.node] if isinstance(public.node, ast.FunctionDef) else public.members
    return [
        f"{public.name}: {argument.arg}"
        for function in functions
        for argument in ast.walk(function.args)
        if isinstance(argument, ast.arg) and argument.annotation is not None
        if {"object", "Any"} & set(re.findall(r"\w+", ast.unparse(argument.annotation)))
    ]


def test_no_public_parameter_is_an_object() -> None:
    publics = write_api.everything()
    assert sum(isinstance(public.node, ast.FunctionDef) for public in publics) > 40
    assert not [name for public in publics for name in loose_parameters(public)]


def test_a_parameter_that_is_an_object_is_found() -> None:
    source = """
class Loose:
    def run(self, one: int, *, two: object = None, **three: "Mapping[str, Any]") -> None: ...
"""
    loose = write_api.Public("Loose", "x", ast.parse(source).body[0])
    assert loose_parameters(loose) == ["Loose: two", "Loose: three"]


# what a caller gives, one item of a result, or what holds tensors: `save` writes a capture of it
NO_RESULTS = {
    *("WordSlot", "DifferenceSlot", "AnswerMeasure", "Component"),
    *("AttentionCall", "Steps", "StepView", "Tokens", "HeadId", "ModelCard", "ModelKey"),
}


@pytest.mark.parametrize("name", sorted(set(write_api.RESULTS) - NO_RESULTS))
def test_every_result_is_a_dictionary_too(name: str) -> None:
    package, module = write_api.RESULTS[name]
    result = getattr(import_module(f"{package}.{module}" if module else package), name)
    assert callable(getattr(result, "to_dict", None)), name


def test_what_is_no_result_is_told_of() -> None:
    assert set(write_api.RESULTS) >= NO_RESULTS
