"""Rules on the source text; after each, the sibling that proves the rule can fail."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contracts import project, rules
from tests.contracts import streamlit_rules as st_rules

Rule = Callable[[str, str], list[str]]

# rule → the files it holds for, a name and a text that break it
CASES: dict[str, tuple[Rule, Callable[[], list[Path]], tuple[str, str]]] = {
    "modules are short": (
        rules.module_size,
        lambda: [*project.shipped_files(), *project.python_files(project.ROOT / "tests")],
        ("attnviz/x.py", "x = 1\n" * 601),
    ),
    "functions are short": (
        rules.function_size,
        lambda: [*project.shipped_files(), *project.python_files(project.ROOT / "tests")],
        ("attnviz/x.py", "def f():\n" + "    x = 1\n" * 60),
    ),
    "modules say what they own": (
        rules.module_docstring,
        lambda: project.python_files(project.ROOT / "app.py", project.PACKAGE),
        ("attnviz/x.py", '"""Too little."""\n'),
    ),
    "docstrings state": (
        rules.docstring_opening,
        lambda: project.python_files(project.PACKAGE),
        ("attnviz/x.py", 'def _f():\n    """Whether x holds."""\n'),
    ),
    "errors are not swallowed": (
        rules.swallowed_errors,
        project.shipped_files,
        ("attnviz/x.py", "try:\n    f()\nexcept Exception:\n    pass\n"),
    ),
    "annotations are real": (
        rules.postponed_annotations,
        lambda: project.python_files(project.PACKAGE),
        ("attnviz/x.py", "from __future__ import annotations\n"),
    ),
    "no pickle": (
        rules.pickles,
        project.shipped_files,
        ("attnviz/x.py", "import numpy as np\nnp.load('x.npz', allow_pickle=True)\n"),
    ),
    "no network of our own": (
        rules.reaches_network,
        project.shipped_files,
        ("attnviz/x.py", "from urllib.request import urlopen\n"),
    ),
    "pages are thin": (
        rules.page_form,
        lambda: project.python_files(project.PAGES),
        ("pages/x.py", '"""A page."""\n\n\ndef helper():\n    return 1\n'),
    ),
    "texts come from i18n": (
        st_rules.spoken_literals,
        project.interface_files,
        ("pages/x.py", "import streamlit as st\nst.markdown(f'Layer {layer}')\n"),
    ),
    "no unsafe markup": (
        st_rules.unsafe_markup,
        project.interface_files,
        ("pages/x.py", "st.markdown(token, unsafe_allow_html=True)\n"),
    ),
    "what is shared is bounded and keyed": (
        st_rules.shared_use,
        project.interface_files,
        ("attnviz/app/x.py", "@shared(most=3)\ndef f(text, _model): ...\n"),
    ),
    "no cache of Streamlit's": (
        st_rules.streamlit_caches,
        project.interface_files,
        ("attnviz/app/x.py", "f = st.cache_data(f)\n"),
    ),
    "private parts of Streamlit stand in one file": (
        st_rules.private_parts,
        project.interface_files,
        ("attnviz/app/x.py", "Runtime.instance()._session_mgr\n"),
    ),
    "state stands in one file": (
        st_rules.session_state_use,
        project.interface_files,
        ("attnviz/app/x.py", "st.session_state['x'] = 1\n"),
    ),
    "a head's name has one pattern": (
        rules.head_patterns,
        lambda: [
            *project.shipped_files(),
            *project.python_files(project.ROOT / "scripts"),
            *sorted(project.PACKAGE.rglob("*.js")),
        ],
        ("attnviz/x.py", 'HEAD = re.compile(r"L(\\d+)\\.H(\\d+)")\n'),
    ),
    "JavaScript asks for type checks": (
        rules.web_checked,
        project.web_files,
        ("attnviz/pictures/x.js", "export const x = 1;\n"),
    ),
    "components are closed": (
        rules.web_never,
        project.web_files,
        ("attnviz/pictures/x.js", "node.innerHTML = token;\n"),
    ),
}


@pytest.fixture(scope="module")
def findings() -> dict[str, list[str]]:
    """What each rule finds, file by file, so that each file is parsed once."""
    places = {case: set(files()) for case, (_, files, _) in CASES.items()}
    assert all(places.values()), "no files to check: has a folder been renamed?"
    found: dict[str, list[str]] = {case: [] for case in CASES}
    for name, path in sorted(
        (project.name_of(path), path) for path in set().union(*places.values())
    ):
        text = project.read(path)
        for case, (rule, _, _) in CASES.items():
            found[case] += rule(name, text) if path in places[case] else []
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_project_keeps_the_rule(findings: dict[str, list[str]], case: str) -> None:
    assert not findings[case], "\n".join(findings[case])


@pytest.mark.parametrize("case", CASES)
def test_the_rule_can_fail(case: str) -> None:
    rule, _, (name, text) = CASES[case]
    assert rule(name, text)


# further ways to break the wider rules, each of which must be found
VIOLATIONS: list[tuple[Rule, str, str]] = [
    (rules.module_docstring, "attnviz/x.py", "x = 1\n"),
    (rules.module_docstring, "attnviz/x.py", '"""' + "line\n" * 16 + '"""\n'),
    (rules.docstring_opening, "attnviz/x.py", '"""How far two numbers differ."""\n'),
    (rules.docstring_opening, "attnviz/x.py", 'class X:\n    """What a model reads."""\n'),
    (rules.docstring_opening, "attnviz/x.py", 'async def f():\n    """Which head it is."""\n'),
    (rules.swallowed_errors, "attnviz/x.py", "try:\n    f()\nexcept:\n    pass\n"),
    (rules.pickles, "attnviz/x.py", "import pickle\n"),
    (rules.pickles, "attnviz/x.py", "from joblib import dump\n"),
    (rules.pickles, "attnviz/x.py", "torch.load(path)\n"),
    (rules.reaches_network, "attnviz/x.py", "import requests\n"),
    (rules.page_form, "pages/x.py", "import streamlit\n"),
    (rules.page_form, "pages/x.py", '"""A page."""\nclass X: ...\n'),
    (rules.page_form, "pages/x.py", '"""A page."""\nx = layer * 12 + head\n'),
    (rules.page_form, "pages/x.py", '"""A page."""\nimport torch\n'),
    (rules.page_form, "pages/x.py", '"""A page."""\n' + "x = 1\n" * 60),
    (st_rules.spoken_literals, "pages/x.py", "st.title('Overview')\n"),
    (st_rules.spoken_literals, "pages/x.py", "st.text_input(label, help='Type here')\n"),
    (st_rules.spoken_literals, "pages/x.py", "column.caption('one ' + name)\n"),
    (st_rules.spoken_literals, "pages/x.py", "st.tabs(['One', 'Two'])\n"),
    (st_rules.spoken_literals, "pages/x.py", "st.set_page_config(page_title='attnviz')\n"),
    (st_rules.shared_use, "pages/x.py", "@shared()\ndef f(text): ...\n"),
    (st_rules.shared_use, "pages/x.py", "def f(_a): ...\ng = shared(most=3)(f)\n"),
    (st_rules.shared_use, "pages/x.py", "def f():\n    @shared(most=3)\n    def g(a): ...\n"),
    (st_rules.session_state_use, "pages/x.py", "st.query_params['text'] = text\n"),
    (st_rules.session_state_use, "pages/x.py", "@st.fragment\ndef draw(shown): ...\n"),
    (rules.head_patterns, "x.js", "text.matchAll(/L([0-9]+)\\.H([0-9]+)/g)\n"),
    (rules.head_patterns, "x.py", 'rf"{STACK}L(?P<layer>[0-9]{{1,3}})"\n'),
    (rules.head_patterns, min(rules.HEAD_NAMES), 'A = r"L\\d"\nB = r"L\\d\\.H\\d"\n'),
    (rules.web_never, "x.js", "import {a} from 'https://cdn.example/x.js';\n"),
    (rules.web_never, "x.css", "@import url(//fonts.example/x.css);\n"),
    (rules.web_never, "x.js", "eval(text)\n"),
    (rules.web_never, "x.js", "await fetch('/x')\n"),
    (rules.web_never, "x.js", "new WebSocket(besidePage(ear.header))\n"),
    (rules.web_never, next(iter(rules.ONE_SOCKET)), "new WebSocket(address)\n"),
    (rules.web_never, next(iter(rules.ONE_FRAME)), "frame.srcdoc = token\n"),
    (rules.web_never, "x.js", "localStorage.setItem('text', text)\n"),
]


@pytest.mark.parametrize(("rule", "name", "text"), VIOLATIONS)
def test_a_violation_is_found(rule: Rule, name: str, text: str) -> None:
    assert rule(name, text)


ALLOWED: list[tuple[Rule, str, str]] = [
    (
        rules.function_size,
        "attnviz/x.py",
        'def f():\n    """' + "line\n" * 99 + '"""\n    return 1\n',
    ),
    (rules.docstring_opening, "attnviz/x.py", 'def f():\n    """However x is read, say y."""\n'),
    (rules.docstring_opening, "attnviz/x.py", 'def f():\n    """The value.\n\n    How: so."""\n'),
    (st_rules.spoken_literals, "pages/x.py", "st.markdown(text('page.head.title'), key='intro')\n"),
    (st_rules.spoken_literals, "pages/x.py", "st.markdown('—')\n"),
    (st_rules.spoken_literals, "pages/x.py", "i18n.text(lang, 'page.head.title')\n"),
    (st_rules.shared_use, "attnviz/x.py", "@shared(most=1)\ndef f(key, _model): ...\n"),
    (st_rules.shared_use, "attnviz/x.py", "def f(text): ...\ng = shared(most=3)(f)\n"),
    (st_rules.private_parts, st_rules.PATCHED_IN, "Runtime.instance()._session_mgr\n"),
    (rules.page_form, "pages/x.py", '"""A page."""\ndef main() -> int | None: ...\n'),
]


@pytest.mark.parametrize(("rule", "name", "text"), ALLOWED)
def test_what_is_allowed_is_not_found(rule: Rule, name: str, text: str) -> None:
    assert not rule(name, text)
