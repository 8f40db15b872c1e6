"""One edit runs only what it needs: jobs are counted after a dozen edits, over all papers and one made up.

The tree is finished in name only: every output is an empty file that Snakemake was told to have made. What a
dry run then lists rests on the digests alone, as after a real run (`test_reruns` has one).
"""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tensor_rnns import datasets
from tensor_rnns.experiments import Catalogue, Replica
from tests.workflow.conftest import ROOT

MADE, CELLS = "more/made2024", "src/tensor_rnns/cells/gated.py"
EVERY = ("papers=[]", "paper_roots=workflow/papers,more")
JOB = re.compile(r"^(?:local)?rule (\w+):\n(?:    (?!output:).*\n)*(?:    output: (.+)\n)?", re.MULTILINE)
REMOVED = re.compile(r"^  wikipedia-arms:\n(?:    .*\n)+", re.MULTILINE)
"""A table without claims."""
ORDER = re.compile(r"  tgu: .*\n  gru: .*\n")
SWAPPED = "  gru: {cell: gru, hidden: 4}\n  tgu: {cell: tgu, hidden: 4, rank: 2}\n"

RECORDED = "results/recorded/runs/mathews2016/addition/T750/gru/authors-rates"

AT_ONCE = (
    "-c",
    "from snakemake.executors.touch import Executor; assert Executor.SLEEPING_TIME\n"
    "Executor.SLEEPING_TIME = 0\n"
    "from snakemake.cli import main; main()",
)
"""Snakemake, without the tenth of a second that it sleeps for each job whose files it touches."""


@dataclass(frozen=True)
class Tree:
    """A finished copy of the project with the made-up paper beside it."""

    folder: Path
    snakemake: Callable

    def listed(self, *config: str) -> list[tuple[str, list[str]]]:
        """(rule, outputs) of each job that a dry run lists."""
        found = self.snakemake(self.folder, "--dry-run", config=(*EVERY, *config))
        return [
            (rule, made.split(", ") if made else [])
            for rule, made in JOB.findall(found.stdout + found.stderr)
        ]

    def plan(self, *config: str) -> dict[str, list[str]]:
        """{rule: the first output of each of its jobs}; {} where nothing is to be done."""
        jobs: dict[str, list[str]] = {}
        for rule, outputs in self.listed(*config):
            jobs.setdefault(rule, []).append((outputs or [""])[0])
        return jobs


@pytest.fixture(scope="module")
def tree(tmp_path_factory, project, snakemake) -> Tree:
    """Every output an empty file, noted by Snakemake as made."""
    made = Tree(project(tmp_path_factory.mktemp("edited") / "project"), snakemake)
    shutil.copytree(ROOT / "tests" / "papers" / "made_up", made.folder / "more")
    shutil.copytree(ROOT / RECORDED, made.folder / RECORDED)
    for path in (made.folder / name for _, outputs in made.listed() for name in outputs):
        (path.parent if path.suffix else path).mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.touch()
    snakemake(made.folder, "--touch", "--forceall", "--quiet", "all", config=EVERY, start=AT_ONCE)
    return made


@contextmanager
def edited(path: Path, before: str | re.Pattern, after: str) -> Iterator[None]:
    """`path` with the first text that is or matches `before` replaced, for as long as the block lasts."""
    text = path.read_text(encoding="utf-8")
    pattern = before if isinstance(before, re.Pattern) else re.compile(re.escape(before))
    new, count = pattern.subn(lambda match: after, text, count=1)
    assert (count, new != text) == (1, True), before
    path.write_text(new, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


def trained(tree, takes: Callable[[Replica], bool]) -> set[str]:
    """The folders, without chunks, of all train jobs at the smallest scale whose replicas `takes` takes."""
    catalogue = Catalogue.load([tree.folder / "workflow" / "papers", tree.folder / "more"])
    experiments = [one for one in catalogue.experiments.values() if one.kind == "train"]
    return {
        f"results/smoke/runs/{'/'.join(replica.curve_key)}/{stage}"
        for experiment, stage in product(experiments, ("search", "final"))
        for replica in experiment.replicas("smoke", "embedded", stage)
        if takes(replica)
    }


def curves(jobs: dict[str, list[str]]) -> set[str]:
    """The folders, without chunks, of the train jobs among `jobs`."""
    return {path.rpartition("/")[0].rpartition("-")[0] for path in jobs.get("train", ())}


def homes(paths: Iterable[str]) -> set[str]:
    """paper/experiment of folders of runs."""
    return {"/".join(path.split("/")[3:5]) for path in paths}


REPORT = {"report": 1, "all": 1}
EXACT = {
    "caption": (f"{MADE}/captions/fig-2.md", ("constant", "steady"), REPORT),
    "title": (f"{MADE}/forgetting.yaml", ("title: Powers", "title: The powers"), REPORT),
    "colour": (
        f"{MADE}/addition.yaml", ("colour: variant", "colour: condition"), {"draw_figure": 1, **REPORT},
    ),
    "claim": (f"{MADE}/addition.yaml", ("tie: 1.0", "tie: 2.0"), {"judge": 1, **REPORT}),
    "tolerance": (f"{MADE}/values.csv", (",0.5,wide", ",0.4,wide"), {"judge": 1, **REPORT}),
    "docstring": (CELLS, ('    """', '    """Changed: '), {}),
    "comment": (CELLS, ("        r = torch", "        # A comment.\n        r = torch"), {}),
    "argument of a probe": (
        f"{MADE}/addition.yaml", ("items: 5", "items: 6"),
        {"probe": 1, "draw_figure": 1, "draw_table": 1, "judge": 1, **REPORT},
    ),
    "note on an obstacle": ("docs/obstacles.md", (re.compile(r"\n- "), "\n- Also: "), REPORT),
    "header of a paper": (f"{MADE}/paper.yaml", ("loss on the addition task", "the loss"), REPORT),
    "protocol of the paper": (
        f"{MADE}/addition.yaml", ("paper: {seeds: 5}", "paper: {seeds: 6}"), {"judge": 1, **REPORT},
    ),
    "order of variants": (
        f"{MADE}/addition.yaml", (ORDER, SWAPPED),
        {"collect": 1, "draw_figure": 1, "draw_table": 1, "judge": 1, **REPORT},
    ),
    "artefact removed": ("workflow/papers/kelley2016/wikipedia.yaml", (REMOVED, ""), REPORT),
}  # fmt: skip


@pytest.mark.parametrize("edit", EXACT)
def test_an_edit_of_words_numbers_and_drawings_trains_nothing(tree, edit):
    name, change, expected = EXACT[edit]
    with edited(tree.folder / name, *change):
        assert {rule: len(made) for rule, made in tree.plan().items()} == expected


RETRAINED = {
    "formula of a cell": (
        CELLS, ("r = torch.sigmoid(x", "r = torch.sigmoid(1.0 * x"),
        lambda replica: (replica.settings.get("cell") or {}).get("name") == "gru",
    ),
    "grid of a variant": (
        "workflow/papers/mathews2016/polyphony.yaml",
        ("001]}, per: {}}", "001]}, per: {vanilla: {training.learning_rate: [0.02, 0.001]}}}"),
        lambda replica: replica.curve_key[1:2] + replica.curve_key[3:4] == ("polyphony", "vanilla"),
    ),
    "parser of a data set": (
        "src/tensor_rnns/datasets/digits.py", ("\n\n\ndef read(", "\n\n\nCHANGED = 1\n\n\ndef read("),
        lambda replica: replica.settings["dataset"] == "digits",
    ),
    "task": (
        "src/tensor_rnns/tasks/addition.py", ("\n\n\n", "\n\n\nCHANGED = 1\n\n\n"),
        # The others stand in a file that imports the first.
        lambda replica: replica.settings["task"]["name"]
        in ("addition", "addition_set", "copy_memory", "copy_memory_apart", "pixels_set"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", RETRAINED)
def test_an_edit_of_what_is_trained_retrains_what_uses_it_alone(tree, edit):
    """The jobs are those of the replicas that the edit is about, over every paper, and nothing else."""
    name, change, takes = RETRAINED[edit]
    expected = trained(tree, takes)
    assert expected
    assert expected < trained(tree, lambda replica: True)
    with edited(tree.folder / name, *change):
        jobs = tree.plan()
    assert curves(jobs) == expected
    assert homes(jobs["collect"]) == homes(expected)
    assert jobs.get("prepare", []) == (["results/data/ready/digits.npz"] if edit.startswith("parser") else [])
    assert {len(jobs[rule]) for rule in ("judge", "report", "all")} == {1}


CODE = {
    "select": ("selection.py", "runs/*/*/*/*/*/chosen.json"),
    "collect": ("curves.py", "collected/*/*/metrics.csv"),
}


@pytest.mark.parametrize("rule", CODE)
def test_an_edit_of_the_code_of_a_rule_runs_all_of_its_jobs(tree, rule):
    """Of searches and of joined runs, whose code stands in the package."""
    name, made = CODE[rule]
    code = tree.folder / "src" / "tensor_rnns" / "analysis" / name
    with edited(code, "\n\n\ndef ", "\n\n\nCHANGED = 1\n\n\ndef "):
        jobs = tree.plan()
    expected = {str(path.relative_to(tree.folder)) for path in tree.folder.glob(f"results/smoke/{made}")}
    assert len(expected) > 1
    assert {*jobs[rule]} == expected


def test_an_edit_of_headlines_draws_the_record_of_its_paper_and_judges(tree):
    """One experiment of the paper is recorded here, and none of another."""
    with edited(
        tree.folder / "workflow/papers/mathews2016/score.yaml", "\nheadlines:", "\n# Cited.\nheadlines:"
    ):
        jobs = tree.plan()
    assert {rule: len(made) for rule, made in jobs.items()} == {"collect_recorded": 1, "judge": 1, **REPORT}


def test_another_version_of_a_package_prepares_what_it_carries_again(tree):
    """And trains again what was trained on that, and nothing else."""
    other = tree.folder / "src" / "music21-0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: music21\nVersion: 0\n")
    jobs = tree.plan()
    shutil.rmtree(other)
    carried = {name for name in datasets.names() if "music21" in datasets.entry(name).packages}
    assert {Path(path).stem for path in jobs["prepare"]} == carried
    assert curves(jobs) == trained(tree, lambda replica: replica.settings["dataset"] in carried)


def test_a_cohort_size_cuts_anew_and_nothing_else_changes(tree):
    """Every curve of more than one seed has other jobs; nothing is prepared or computed afresh."""
    jobs = tree.plan("cohort_size=1")
    assert "results/smoke/runs/made2024/addition/only/tgu/main/final" in curves(jobs)
    assert "prepare" not in jobs
    assert "compute" not in jobs


def test_a_guest_trains_itself_and_nothing_else(tree):
    """Its own curves in every experiment that it joins, and what is made of them: those beside it stay."""
    jobs = tree.plan("guest_cells=docs/my_cell.py")
    assert jobs.keys() & {"prepare", "compute", "probe", "collect_recorded"} == set()
    folders = curves(jobs) | {path.rpartition("/")[0] for path in jobs["select"]}
    assert {Path(folder).parts[6].partition("-")[0] for folder in folders} == {"guest"}
    assert homes(jobs["collect"]) == homes(folders)


def test_real_data_train_what_rests_on_data_and_nothing_else(tree):
    """Every curve with a stand-in is trained on the real data, and neither one of made data nor the fonts,
    which have none."""
    jobs = tree.plan("data=real", "mirrors=file:///none")
    other = trained(tree, lambda replica: replica.settings["dataset"] not in (None, "fonts"))
    assert curves(jobs) == other
    assert other < trained(tree, lambda replica: True)


def test_nothing_changed_nothing_to_do_and_the_page_lists_every_edit(tree):
    """docs/one-figure.md has a row for each edit that is counted here. Files that an editor keeps for itself
    count as little as those that are not there."""
    strange = [
        tree.folder / name
        for name in (
            f"{MADE}/captions/.fig-2.md.swp",
            f"{MADE}/.#addition.yaml",
            "src/tensor_rnns/drawing/.#render.py",
        )
    ]
    for path in strange:
        path.symlink_to("nowhere") if "#" in path.name else path.write_bytes(b"\xff")
    assert tree.plan() == {}
    for path in strange:
        path.unlink()
    page = (ROOT / "docs" / "one-figure.md").read_text(encoding="utf-8")
    listed = {row.split("|")[1].strip() for row in page.splitlines() if row.startswith("| ")} - {"change"}
    counted = {*EXACT, *RETRAINED, "cohort size", "guest cell", "real data"} - {"docstring", "comment"}
    assert listed == counted | {"docstring or comment"}
