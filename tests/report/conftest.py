"""A made checkout with two papers, real templates, and results written as the jobs write them."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from selenium import webdriver

from tensor_rnns.analysis.collect import collect
from tensor_rnns.analysis.judge import judge
from tensor_rnns.analysis.tables import COMPUTED
from tensor_rnns.drawing.render import render
from tensor_rnns.experiments import Catalogue, Replica
from tensor_rnns.files import write_csv, write_json
from tensor_rnns.report.build import build
from tests.analysis.conftest import write_run_folder

HOME = Path(__file__).parents[2]
EPOCH = "1479686400"
PAPER = """
title: "Made & measured: 50 % of <everything>"
authors: A. Maker
year: 2016
catalogue: {fig-1: "loss against updates", table-1: "losses", fig-9: "never built"}
"""
TRAINED = """
title: Addition & co_ordinates
source: {section: 5.1, page: 68}
kind: train
dataset: {real: jsb, stand_in: chorales}
task: {name: addition, length: 20}
model: {name: last_output}
training: {optimiser: adam, learning_rate: 0.1, batch: 3, updates: 40, loss: mse}
conditions: {T20: {task.length: 20}, T30: {task.length: 30}}
variants: {tgu: {cell: tgu, hidden: 8, rank: 4}, gru: {cell: gru, hidden: 7}}
options: {slow: {why: the rate of the logs, set: {training.learning_rate: 0.01}, conditions: [T20]}}
scales:
  paper: {seeds: 6}
  smoke: {seeds: 3, conditions: [T20], options: [main]}
measures: {recent: {name: running, width: 4}, loss: {name: metric}}
artefacts:
  fig-1: {draw: curves, panels: condition, measure: {name: running, width: 4}, y: {scale: log, label: error},
          lines: [task_baseline], caption: "Loss of `tgu` & gru; **50 %** of <b>"}
  table-1: {draw: table, rows: [condition, variant], columns: [{label: loss, measure: {name: metric}},
            {label: parameters, measure: {name: parameters}}]}
claims:
  made-1: {statement: "The loss of the TGU is 0.0021 & not < 0", artefact: fig-1, test: value,
           where: {variant: tgu, condition: T20}, measure: {name: metric}, paper: 0.0021, runs: 1, tol: 0.01,
           why: made}
  made-2: {statement: The TGU is below the GRU, artefact: table-1, test: order,
           less: {variant: tgu, condition: T20},
           than: {variant: gru, condition: T20}, measure: {name: metric}}
deviations:
  base_line: {paper: "0.1767", code: levels at 0.167, ours: "1/6 = 0.1667", effect: {claim: made-1}}
"""
VALUES = """\
id,artefact,condition,variant,option,item,measure,split,x,value,unit,tolerance,reason,runs,settings,source,page
log,fig-1,T20,tgu,,,recent,,1,0.3,,,,,,authors_log,
log,fig-1,T20,tgu,,,recent,,20,0.05,,,,,,authors_log,
log,fig-1,T20,tgu,,,recent,,40,0.002,,,,,,authors_log,
gru,table-1,T20,gru,,,loss,,,0.1767,,,,,,printed,
tgu,table-1,T20,tgu,,,loss,,,0.0021,,,,,,printed,
"""
COMPUTED_FILE = """
title: Windows
source: {section: 4}
kind: compute
compute: {function: windows.windows}
artefacts:
  fig-2: {draw: windows, x: {label: step}, y: {label: weight}}
"""
LATER = """
title: Never run
source: {section: 6}
kind: train
task: {name: addition, length: 20}
model: {name: last_output}
training: {optimiser: adam, learning_rate: 0.1, batch: 3, updates: 40, loss: mse}
variants: {lstm: {cell: lstm, hidden: 8}}
scales: {paper: {seeds: 2}}
artefacts: {fig-1: {draw: curves}}
"""


def outcome(replica: Replica) -> dict:
    """What a replica gives: a fall of its loss within 40 updates; the third seed of the GRU fails."""
    failed = replica.variant == "gru" and replica.seed == 2
    noise = np.random.default_rng(replica.seed).random(40) * 0.1 + 0.95
    start = 12 if replica.variant == "tgu" else 25
    values = (0.3 / (1 + np.exp(np.arange(1, 41) - start)) + 0.002) * noise
    values = values[:9] if failed else values
    return {
        "metrics": {("train", "loss"): float(values[-1]), ("none", "baseline"): 1 / 6},
        "curves": {("train", "loss"): values.tolist()},
        "status": "failed" if failed else "done",
        "failed_at": 9 if failed else None,
        "updates": len(values),
        "parameters": 193,
        "seconds_per_update": 90.0,
    }


def write_runs(catalogue: Catalogue, results: Path, scale: str, paper: str = "made2016") -> None:
    """Run folders and collected tables of the experiment `addition`."""
    replicas = catalogue.experiments[paper, "addition"].replicas(scale, "embedded", "final")
    folders = [
        write_run_folder(
            results / scale / "runs" / Path(*replica.curve_key) / f"final-{replica.seed}",
            [replica], outcome, core_hours=1.0, versions={"torch": "2.13.0"}, cores=5,
            processor="A processor", gpu=None, threads=2, dirty=False,
        )
        for replica in replicas
    ]  # fmt: skip
    collect(folders, results / scale / "collected" / paper / "addition")


@pytest.fixture
def run_at() -> Callable[[Catalogue, Path, str], None]:
    """`write_runs`, for tests that need another scale."""
    return write_runs


def write_papers(home: Path) -> Catalogue:
    """Two papers, the second without any experiment that has run."""
    for paper, files in {
        "made2016": {"addition": TRAINED, "windows": COMPUTED_FILE},
        "late2017": {"later": LATER},
    }.items():
        folder = home / "workflow" / "papers" / paper
        folder.mkdir(parents=True)
        (folder / "paper.yaml").write_text(PAPER.replace("Made", paper))
        for name, text in files.items():
            (folder / f"{name}.yaml").write_text(text)
    (home / "workflow" / "papers" / "made2016" / "values.csv").write_text(VALUES)
    return Catalogue.load(home / "workflow" / "papers")


def write_home(home: Path, patch: pytest.MonkeyPatch) -> None:
    """A checkout without papers in `home`, which becomes the working folder."""
    patch.setenv("SOURCE_DATE_EPOCH", EPOCH)
    shutil.copytree(HOME / "report" / "templates", home / "report" / "templates")
    (home / "docs").mkdir()
    (home / "docs" / "obstacles.md").write_text(
        "# Log\n\n- 12 March: the `server` was gone & came back\n- **13 March**: fine\n"
    )
    patch.chdir(home)


def write_checkout(home: Path, patch: pytest.MonkeyPatch) -> tuple[Catalogue, Path]:
    """See `checkout`; the working folder becomes `home`."""
    write_home(home, patch)
    catalogue, results = write_papers(home), home / "results"
    write_runs(catalogue, results, "smoke")
    rows = [
        {"item": item, "name": name, "index": k, "value": rate**k}
        for item in ("forget", "convex")
        for name, rate in (("slow", 0.9), ("fast", 0.5))
        for k in range(12)
    ]
    path = results / "smoke" / "computed" / "made2016" / "windows.csv"
    write_csv(path, rows, COMPUTED, "made2016/windows/smoke")
    write_json(
        results / "data" / "ready" / "chorales.json",
        {"dataset": "chorales", "stand_in": True, "licence": "free", "pieces": {"train": 229, "valid": 76}},
        "chorales",
    )
    for artefact in ("fig-1", "table-1", "fig-2"):
        render(catalogue, "smoke", "made2016", artefact, results)
    judge(catalogue, "smoke", results)
    return catalogue, results


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that is copied, and left alone."""
    home = tmp_path_factory.mktemp("written") / "checkout"
    with pytest.MonkeyPatch.context() as patch:
        write_checkout(home, patch)
    return home


@pytest.fixture
def checkout(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Catalogue, Path]:
    """The catalogue and the results; of `made2016` all has run at smoke scale, of `late2017` nothing."""
    home = shutil.copytree(written, tmp_path / "checkout")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)
    monkeypatch.chdir(home)
    return Catalogue.load(home / "workflow" / "papers"), home / "results"


FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
"""Of Chromium; no host is found, as on a machine without network."""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """One browser for the tests of a module; see `browser`."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium: webdriver.Chrome) -> webdriver.Chrome:
    """The browser on an empty page, light, 1,280 pixels wide, with empty logs."""
    chromium.get("about:blank")
    shown_as(chromium)
    for log in ("browser", "performance"):
        chromium.get_log(log)
    return chromium


def shown_as(browser: webdriver.Chrome, width: int = 1280, scheme: str = "light", media: str = "") -> None:
    """Make the browser so many pixels wide, its colours light or dark, its medium the screen or paper."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [feature]})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of one report of `checkout`, without PDF, for tests that only look."""
    with pytest.MonkeyPatch.context() as patch:
        catalogue, results = write_checkout(tmp_path_factory.mktemp("site") / "checkout", patch)
        patch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
        yield build(catalogue, "smoke", "embedded", results)[0].parent


@pytest.fixture
def report(site: Path) -> Callable[[str], str]:
    """The address of a page of the report, by its file."""
    return lambda page: f"{site.as_uri()}/{page}"
