"""The public names: pinned, few, resolvable in any order, and their shapes checked in tests."""

import json

import jaxtyping
import pytest
import torch

import attnviz
from attnviz import errors, masks
from attnviz.cli import main
from scripts import write_stub
from scripts.write_api import RESULTS
from tests.contracts import project

PUBLIC = (
    "AttnVizError BadInput Capture Class Cosine Divergence Generation LoadedModel "
    "NextToken Sound Target ablate capture changed circuits compare cut derive edit embed "
    "experiment figures from_attentions load mask masks metrics models patch pattern read "
    "record save show survey tiles"
).split()
MOST = 36


def test_public_names_are_pinned() -> None:
    assert sorted(attnviz.__all__) == sorted(PUBLIC)
    assert len(attnviz.__all__) <= MOST
    assert len(set(attnviz.__all__)) == len(attnviz.__all__)


def test_dir_shows_the_public_names() -> None:
    assert dir(attnviz) == sorted(attnviz.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_resolves(name: str) -> None:
    assert getattr(attnviz, name) is not None


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        attnviz.nonsense  # noqa: B018


# `capture` and `models` are functions and also packages: importing a module below one of them must
# not hide the function, whatever was touched before
READS = ("attnviz.capture", "attnviz.models")
IMPORTS = (
    "import attnviz.models.loader",
    "import attnviz.capture.record",
    "from attnviz.models import registry",
)
ORDERS = [order for each in IMPORTS for order in ((*READS, each), (each, *READS))]


def test_functions_are_not_hidden_by_their_packages(fresh: dict[str, str]) -> None:
    assert fresh["orders"] == str(len(ORDERS))


# attnviz is forgotten and imported anew for each order; torch and transformers stay loaded, and no
# file is compiled twice
EACH_ORDER = """
import sys
from importlib.machinery import SourceFileLoader
compiled, compile_file, tried = {{}}, SourceFileLoader.get_code, 0
SourceFileLoader.get_code = lambda self, name: (
    compiled[name] if name in compiled else compiled.setdefault(name, compile_file(self, name))
)
for order in {orders}:
    for name in [name for name in sys.modules if name.split(".")[0] == "attnviz"]:
        del sys.modules[name]
    exec("import attnviz; " + "; ".join(order))
    import attnviz
    assert callable(attnviz.capture), order
    assert attnviz.models()[0].name == "minilm", order
    tried += 1
"""


def test_errors_are_one_tree() -> None:
    own = [value for value in vars(errors).values() if isinstance(value, type)]
    classes = [error for error in own if error.__module__ == errors.__name__]
    assert len(classes) == 9
    assert all(issubclass(error, attnviz.AttnVizError) for error in classes)


def test_type_checkers_see_the_names() -> None:
    """Each `__init__.pyi` is what scripts/write_stub.py writes, and only with one has names."""
    assert write_stub.main(["--check"]) == 0
    assert sorted(write_stub.homes("attnviz")) == attnviz.__all__
    stubs = {path.parent for path in project.PACKAGE.rglob("__init__.pyi")}
    assert stubs == {project.ROOT.joinpath(*name.split(".")) for name in write_stub.packages()}


def test_results_are_imported_from_the_package_of_their_function(fresh: dict[str, str]) -> None:
    assert fresh["results"] == str(len(RESULTS))


def test_wrong_shapes_are_refused_during_tests() -> None:
    """The import hook of tests/support/shapes.py is on: a 3-d tensor is no [query, key] matrix."""
    with pytest.raises(jaxtyping.TypeCheckError):
        masks.blockers({"causal": torch.ones(2, 3, 5, dtype=torch.bool)})


def test_the_versions_agree() -> None:
    assert attnviz.__version__ == project.pyproject()["project"]["version"]


def test_the_command_is_the_one_that_is_installed() -> None:
    [target] = project.pyproject()["project"]["scripts"].values()
    assert target == f"{main.__name__}:{main.main.__name__}"


# the shape checks of the tests would refuse these arguments first: they run without them
WRONG_ARGUMENTS = """
import numpy as np
import attnviz
from attnviz.errors import BadInput, BadMask
from tests.support.calls import call, capture

cap = capture(call(0), call(1))
array = np.zeros((7, 7), dtype=np.float32)
wrong = {
    "derive() takes AttentionCall": lambda: attnviz.derive(cap, 0),
    "tiles.build() takes AttentionCall": lambda: attnviz.tiles.build(cap, 0),
    "tiles.strongest() takes Pyramid": lambda: attnviz.tiles.strongest(cap.calls[0], 5),
    "figures.heatmap() takes StepView": lambda: attnviz.figures.heatmap(array),
    "score() takes a Capture": lambda: attnviz.metrics.score(array),
    "give [layer, head, query, key]": lambda: attnviz.metrics.scores(array, cap.tokens),
    "query, key] = […, 7, 7]": lambda: attnviz.metrics.describe(array[None, None, :5], cap.tokens),
    "[layer, query, key] = (1, 7, 7)": lambda: attnviz.metrics.measured(
        array[None, None], cap.tokens, visible=array > 0
    ),
    "the mask is float32 (7, 7)": lambda: attnviz.derive(cap.calls[0], 0, mask=array),
    "the mask is bool (7, 5)": lambda: attnviz.derive(cap.calls[0], 0, mask=array[:, :5] > 0),
    "the mask is str ()": lambda: attnviz.derive(cap.calls[0], 0, mask="causal"),
    "head 'one' does not exist": lambda: attnviz.derive(cap.calls[0], "one"),
    "names no head": lambda: cap.weights(("L1", 2, 3)),
    "measure is 'entrop'": lambda: cap.table(["entrop"]),
    "no 'both' attention": lambda: cap.call(0, kind="both"),
}
for message, run in wrong.items():
    try:
        run()
    except (BadInput, BadMask) as error:
        assert message in str(error), (message, str(error))
    else:
        raise AssertionError(f"nothing was raised: {message}")
blocked = np.tril(np.ones((7, 7), dtype=bool))
assert not attnviz.derive(cap.calls[0], 0, mask=blocked)["weights"][~blocked].any()
tried = len(wrong)
"""


def test_wrong_arguments_are_refused_in_words_of_our_own(fresh: dict[str, str]) -> None:
    assert fresh["arguments"] == str(WRONG_ARGUMENTS.count("lambda"))


# each program counts in `tried` what it tried; torch is loaded once for all of them
EACH_PROGRAM = """
import json, sys, traceback
said = {}
for name, program in json.loads(sys.stdin.read()).items():
    names = {}
    try:
        exec(program, names)
        said[name] = str(names["tried"])
    except Exception:
        said[name] = traceback.format_exc()
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def fresh() -> dict[str, str]:
    """What programs in a fresh interpreter tried: a count, or the error of the program."""
    imports = [f"from {package} import {name}" for name, (package, _) in RESULTS.items()]
    results = [*imports, "import attnviz", "attnviz.capture", f"tried = {len(imports)}"]
    programs = {
        "results": "\n".join(results),
        "arguments": WRONG_ARGUMENTS,
        "orders": EACH_ORDER.format(orders=ORDERS),
    }
    ran = project.run_python(EACH_PROGRAM, json.dumps(programs))
    assert ran.returncode == 0, ran.stderr
    said: dict[str, str] = json.loads(ran.stdout)
    return said
