"""The rules on how Streamlit is used, each a function of one file's name and text."""

import ast
import re
from collections.abc import Iterator

from tests.contracts.rules import Function, dotted, functions, nodes, parse

# methods whose first argument, or any of whose arguments named so, is read by a person
TEXT_METHODS = frozenset(
    (
        "button caption checkbox code dialog download_button error exception expander "
        "form_submit_button header help info link_button markdown metric multiselect number_input "
        "pills popover progress radio segmented_control select_slider selectbox slider spinner "
        "status subheader success tabs text text_area text_input title toast toggle warning write "
    ).split()
)
NOT_SHOWN = {"i18n", "logger", "logging", "sys", "warnings"}  # sys.stderr: the operator's log
TEXT_KEYWORDS = frozenset(
    "label help placeholder body text title page_title caption text_alt".split()
)


def spoken_literals(name: str, source: str, keys: frozenset[str] = frozenset()) -> list[str]:
    """Texts that a person reads must come from i18n, not stand in the code."""
    found = []
    for node in nodes(parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        receiver = dotted(node.func.value).split(".")[0]
        if receiver in NOT_SHOWN:
            continue
        for argument in _spoken_arguments(node, node.func.attr, receiver == "st"):
            said = _literal_text(argument)
            if re.search(r"[^\W\d_]", said) and (receiver == "st" or said not in keys):
                found.append(f"{name}:{node.lineno}: {ast.unparse(node.func)}({said!r})")
    return found


def _spoken_arguments(call: ast.Call, method: str, on_streamlit: bool) -> Iterator[ast.expr]:
    if method in TEXT_METHODS:
        yield from call.args[:1]
    if method in TEXT_METHODS or on_streamlit:
        yield from (k.value for k in call.keywords if k.arg in TEXT_KEYWORDS)


def _literal_text(node: ast.expr) -> str:
    """The words that stand in the code: of a literal, an f-string, a list of them, a sum."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _literal_text(part) for part in node.values if isinstance(part, ast.Constant)
        )
    if isinstance(node, ast.List | ast.Tuple):
        return " ".join(_literal_text(part) for part in node.elts)
    if isinstance(node, ast.BinOp):
        return _literal_text(node.left) + _literal_text(node.right)
    return ""


def unsafe_markup(name: str, source: str) -> list[str]:
    """Streamlit must never be told to read text as HTML."""
    return [
        f"{name}:{node.value.lineno}: {node.arg}"
        for node in nodes(parse(source))
        if isinstance(node, ast.keyword)
        and node.arg in {"unsafe_allow_html", "unsafe_allow_javascript"}
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    ]


SHARED = "shared"
STREAMLIT_CACHES = {"cache_data", "cache_resource"}


def shared_use(name: str, source: str) -> list[str]:
    """What sessions share is bounded, made once, and no key leaves out what determines it.

    Arguments that start with `_` are in no key (`app.server.shared`): allowed only beside an
    argument `key`, which names all that determines them. A function within another one would have
    an empty memory at each call.
    """
    tree = parse(source)
    top = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = []
    for function in functions(tree):
        for call in function.decorator_list:
            if _is_shared(call):
                if function not in top:
                    found.append(f"{name}: {function.name}: has a new memory at each call")
                found += [f"{name}: {function.name}: {p}" for p in _memory_problems(call, function)]
    by_name = {function.name: function for function in top}
    for node in nodes(tree):
        made = node.func if isinstance(node, ast.Call) else None
        if isinstance(made, ast.Call) and _is_shared(made):
            function = by_name[dotted(node.args[0])]
            found += [f"{name}: {function.name}: {p}" for p in _memory_problems(made, function)]
    return found


def _is_shared(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return dotted(called).split(".")[-1] == SHARED


def _memory_problems(decorator: ast.expr, function: Function) -> Iterator[str]:
    keywords = {k.arg for k in decorator.keywords} if isinstance(decorator, ast.Call) else set()
    if "most" not in keywords:
        yield "has no bound"
    arguments = [
        argument.arg
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    ]
    hidden = [argument for argument in arguments if argument.startswith("_")]
    if hidden and "key" not in arguments:
        yield f"{', '.join(hidden)} is in no key"


def streamlit_caches(name: str, source: str) -> list[str]:
    """Streamlit's caches, which any visitor can empty for all, are not used."""
    return [
        f"{name}:{node.lineno}: {dotted(node)}"
        for node in nodes(parse(source))
        if isinstance(node, ast.Attribute) and node.attr in STREAMLIT_CACHES
    ]


PATCHED_IN = "attnviz/app/server/edge/streamlit_patches.py"
PRIVATE_PART = re.compile(
    r"_session_mgr|_session_storage|_total_bytes|_create_scriptrunner|get_external_ip"
)


def private_parts(name: str, source: str) -> list[str]:
    """Private parts of Streamlit are named in one file, which checks the version."""
    if name == PATCHED_IN:
        return []
    return [
        f"{name}:{number}: {match[0]}"
        for number, line in enumerate(source.splitlines(), start=1)
        if (match := PRIVATE_PART.search(line))
    ]


TOUCHED_IN = {
    "session_state": "attnviz/app/session/store.py",
    "query_params": "attnviz/app/session/address_bar.py",
    "fragment": "attnviz/app/session/fragment.py",  # a fragment of Streamlit keeps its arguments
}


def session_state_use(name: str, source: str) -> list[str]:
    """`st.session_state` and `st.query_params` are each touched in one file only."""
    return [
        f"{name}:{node.lineno}: {dotted(node)}"
        for node in nodes(parse(source))
        if isinstance(node, ast.Attribute)
        and dotted(node.value) == "st"
        and TOUCHED_IN.get(node.attr, name) != name
    ]
