"""Which tests can run here: those that need a part that is missing are deselected, and a line a part says so.

With NO_SKIP=1 a missing part fails the run, and so does a test that skips itself; a missing GPU does not.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest

from tensor_rnns import papers


def lacking(*programs: str) -> str:
    """Which of `programs` cannot be found, in words, or ""."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    missing = [program for program in programs if not shutil.which(program, path=path)]
    return f"no {', no '.join(missing)}" if missing else ""


def lacking_slurm() -> str:
    """What a private Slurm lacks."""
    needed = lacking("slurmctld", "slurmd", "munged", "sinfo", "sbatch", "srun")
    return needed or ("" if os.geteuid() == 0 else "a private Slurm needs root")


def lacking_gpu() -> str:
    """Whether torch sees a CUDA device; torch is imported only where a test asks."""
    import torch

    return "" if torch.cuda.is_available() else "no CUDA device"


def lacking_triton() -> str:
    """Whether the package triton, an optional extra, is installed."""
    return "" if find_spec("triton") else "no package triton"


def lacking_real_data() -> str:
    """Whether a mirror of the real data is named."""
    return "" if os.environ.get("TENSOR_RNNS_MIRROR") else "TENSOR_RNNS_MIRROR is not set"


PARTS: dict[str, Callable[[], str]] = {
    "gpu": lacking_gpu,
    "slurm": lacking_slurm,
    "latex": lambda: lacking("latexmk", "pdflatex", "pdfinfo"),
    "browser": lambda: lacking("chromium", "chromedriver"),
    "real_data": lacking_real_data,
    "triton": lacking_triton,
}
LONG = ("cluster", "workflow", "recording", "benchmarks")
"""Folders of long tests, which come first: no worker then waits for another at the end."""
TOGETHER = (
    "archive/", "cli/test_warm.py", "cluster/", "compute/test_computed_experiments.py",
    "datasets/test_ready.py", "datasets/test_real_data.py",
    "docs/test_generated.py", "engine/test_compiled.py", "recording/test_packing.py", "recording/",
    "report/test_accessible.py", "report/test_browser.py", "report/test_own_papers.py",
    "training/test_bits.py", "training/test_job.py", "workflow/test_edits.py", "workflow/test_reruns.py",
)  # fmt: skip
"""Tests that share what takes long to make: one worker of xdist makes it, once."""
NO_SKIP = os.environ.get("NO_SKIP", "0") not in ("", "0")
NOT_RUN = pytest.StashKey[dict[str, str]]()


@pytest.fixture(autouse=True)
def own_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of papers that a test names, by a command too, are not those of the next."""
    monkeypatch.setattr(papers, "__path__", list(papers.__path__))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests in order, and deselect those whose part is missing."""
    items.sort(key=lambda item: item.path.parent.name not in LONG)
    lines, out = {}, set()
    for part, missing in PARTS.items():
        needing = [item for item in items if item.get_closest_marker(part)]
        reason = missing() if needing else ""
        if reason:
            lines[part] = f"{part}: {len(needing)} tests not run: {reason}"
            out.update(needing)
    config.stash[NOT_RUN] = lines
    config.hook.pytest_deselected(items=[item for item in items if item in out])
    items[:] = [item for item in items if item not in out]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Tests to workers as they come, but those of a line of TOGETHER to one.

    The --dist loadgroup of xdist 3.8 has no effect, as it writes groups into a name that pytest 9.2 does not
    read.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            place = nodeid.removeprefix("tests/")
            return next(filter(place.startswith, TOGETHER), nodeid)

    return Together(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """With NO_SKIP, a test that skips itself has failed."""
    return as_failure((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """With NO_SKIP, a file that skips itself has failed."""
    return as_failure((yield))


def as_failure(report):
    """`report`, failed where it was skipped and NO_SKIP forbids that."""
    if NO_SKIP and report.skipped:
        report.outcome = "failed"
        vars(report).pop("wasxfail", None)
        report.longrepr = f"NO_SKIP=1, and this was skipped: {report.longrepr}"
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With NO_SKIP, a missing part other than a GPU fails the run; a worker of xdist tells its controller."""
    lines = session.config.stash.get(NOT_RUN, {})
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["not_run"] = lines
    elif NO_SKIP and set(lines) - {"gpu"}:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Take over what a worker of xdist did not run; every worker collects everything."""
    node.config.stash.setdefault(NOT_RUN, {}).update(getattr(node, "workeroutput", {}).get("not_run", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """One line for each missing part."""
    for part, line in config.stash.get(NOT_RUN, {}).items():
        failure = NO_SKIP and part != "gpu"
        suffix = " (a failure: NO_SKIP=1)" if failure else ""
        terminalreporter.line(line + suffix, red=failure, yellow=not failure)


@pytest.fixture(scope="session", autouse=True)
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels are built once for all workers of xdist, into a folder of their own, or into the one that the
    environment names."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "kernels"
    with pytest.MonkeyPatch.context() as patch:
        if "TENSOR_RNNS_KERNELS" not in os.environ:
            patch.setenv("TENSOR_RNNS_KERNELS", str(folder))
        yield


@pytest.fixture
def net() -> Callable:
    """A function that builds a net with random weights, as probes get it; `weights` maps a parameter to what
    is added to zeros of its shape, in place of its random values. `kind` is the class, for nets that pretend.
    """
    import torch

    from tensor_rnns import models, tasks
    from tensor_rnns.experiments.streams import rng
    from tensor_rnns.probes.trained import Trained

    def make(task: dict, cell: dict, model="every_step", weights=None, kind=Trained) -> Trained:
        settings = {"task": task, "training": {"batch": 3}, "model": {"name": model}, "cell": cell}
        made_task = tasks.build(settings)
        model = models.build(settings, made_task.inputs, made_task.outputs)
        parameters = {name: torch.from_numpy(value) for name, value in model.initialise(rng(5)).items()}
        for name, value in (weights or {}).items():
            parameters[name] = torch.zeros_like(parameters[name]) + torch.as_tensor(value).double()
        return kind({"seed": 2}, settings, parameters, made_task, 11, 12)

    return make


@pytest.fixture
def numbers() -> Callable[[list[dict]], dict]:
    """Table rows as {(item, name): list of values in the order of their index}."""

    def table(rows: list[dict]) -> dict:
        found: dict = {}
        for row in rows:
            found.setdefault((row["item"], row["name"]), []).append(row["value"])
            assert row["index"] == len(found[row["item"], row["name"]]) - 1
        return found

    return table
