"""The code reads no format that can run code, starts no shell and evaluates no text, but in the places named
here with their reasons.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted(
    [*(ROOT / "src").rglob("*.py"), *(ROOT / "workflow").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
)
FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.load", "pickle.loads",
    "pickle.Unpickler", "torch.load", "marshal.load", "marshal.loads", "shelve.open", "joblib.load",
    "pandas.read_pickle", "pd.read_pickle", "yaml.load", "yaml.load_all", "yaml.full_load",
    "yaml.unsafe_load", "yaml.safe_load", "subprocess.getoutput", "subprocess.getstatusoutput",
    "tarfile.extractall",
}  # fmt: skip
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
ALLOWED = {
    ("engine/build.py", "exec"): "kernels that this program wrote, from the text at hand",
    ("engine/build.py", "compile"): "the same",
    ("checking/config.py", "yaml.safe_load"): "config.yaml as Snakemake reads it, after our own reader",
    ("datasets/pickled.py", "pickle"): "the reader that knows no names but two stand-ins",
    ("datasets/pickled.py", "pickle.Unpickler"): "the same",
}


def name_of(node: ast.AST) -> str:
    """`a.b` of an expression that is one; "" of any other."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def uses(tree: ast.AST) -> Iterator[str]:
    """What the code has that this test is about."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield node.module
        if isinstance(node, ast.Name | ast.Attribute) and name_of(node) in FORBIDDEN:
            yield name_of(node)
        if (
            isinstance(node, ast.Attribute)
            and node.attr in ("extractall", "extract")
            and "tar" in name_of(node)
        ):
            yield "tarfile.extractall"
        for keyword in getattr(node, "keywords", ()):
            value = getattr(keyword.value, "value", keyword.value)
            if (keyword.arg, value is False) in (("shell", False), ("allow_pickle", False)):
                yield f"{keyword.arg}="


def test_nothing_that_runs_foreign_code_is_called():
    found = {
        (str(path.relative_to(ROOT)).removeprefix("src/tensor_rnns/"), use)
        for path in FILES
        for use in uses(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(ALLOWED)


def test_the_search_sees_what_it_looks_for():
    code = (
        "import pickle\nfrom marshal import loads\nsubprocess.run('id', shell=True)\neval('1')\n"
        "os.system('id')\nnp.load('a', allow_pickle=True)\nyaml.load('a')\ntorch.load('a')\n"
        "run('id', shell=False)\nrun('id', shell=given)\n"
    )
    assert sorted(uses(ast.parse(code))) == sorted(
        [
            "pickle",
            "marshal",
            "shell=",
            "eval",
            "os.system",
            "allow_pickle=",
            "yaml.load",
            "torch.load",
            "shell=",
        ]
    )
