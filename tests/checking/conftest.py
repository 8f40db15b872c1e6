"""A sound experiment file with every block, and what the check says of a changed copy of it."""

import pytest

from tensor_rnns import checking
from tensor_rnns.experiments import values

HEAD = ",".join(values.COLUMNS)
ROW = dict.fromkeys(values.COLUMNS, "") | {"id": "m1", "value": "8.60", "source": "printed"}
JUDGED = ROW | {
    "artefact": "table-1", "condition": "T50", "variant": "gru", "measure": "loss", "split": "test",
    "unit": "nats", "tolerance": "0.08", "reason": "grid", "page": "62",
}  # fmt: skip
POINT = ROW | {"artefact": "fig-1", "variant": "tgu", "measure": "recent", "x": "20"}
PAPER = "title: Made\ntolerances: {grid: the best of a grid}\n"
"""A table of the paper's numbers: its head, rows of three kinds, and the header of the paper beside it."""
WEIGHTS = """\
weights:
  headline: {weight: 10, why: it is cited}
  trained outcomes: {weight: 3, why: it can fail}
  computed: {weight: 1, why: it rarely fails}
  counts: {weight: 0.5, why: it is a size}
  identities: {weight: 0.25, why: it is exact}
headlines:
"""
"""What a score file begins with: a weight of each kind, and its reason."""
WHOLE = """\
title: Addition, small
kind: train
source: {section: 5.1.1}
task: {name: addition, length: 50}
model: {name: last_output, read_out: {weight: unit_scaling, bias: {uniform: 1.732}}}
training:
  optimiser: {name: rmsprop, decay: 0.8, epsilon_inside: true}
  learning_rate: 0.01
  batch: 8
  updates: 100
  evaluate: {every: 10, splits: [valid, test]}
  keep: best
conditions:
  T50: {task.length: 50}
  T100: {task.length: 100, training.clip_norm: 3}
variants:
  tgu: {cell: tgu, hidden: 8, rank: 4, weights: normal(0.2)}
  gru: {cell: gru, hidden: 9, training.clip_norm: 5}
options:
  slow: {why: to see a slow one, set: {training.learning_rate: 0.001}, per: {T50/gru: {cell.gate_bias: 2.0}}}
search:
  grid: {training.batch: [4, 6]}
  per:
    tgu: {"cell.hidden,cell.rank": [[5, 2], [6, 3]]}
  select: {measure: {name: running, width: 10}, split: valid, best: lowest}
scales:
  paper: {seeds: 5}
  laptop: {seeds: 2, search: none}
  smoke:
    search: {grid: {training.batch: [3]}, per: {}}
    set: {task.length: 20}
probes:
  memory: {function: mathews2016.answer_in_state, where: {variant: tgu}}
measures:
  recent: {name: running, width: 10}
artefacts:
  fig-1:
    draw: curves
    panels: condition
    where: {variant: [tgu, gru], condition: all}
    measure: {name: running, width: 10}
    y: {scale: log, label: loss}
    lines: [task_baseline, {value: 0.2, label: a level}]
  table-1:
    draw: table
    rows: [variant]
    where: {condition: all}
    columns:
      - {label: end, measure: {name: final, width: 7}, where: {condition: T50}}
      - {label: size, measure: {name: parameters}}
claims:
  worth:
    {statement: The GRU ends there., artefact: fig-1, test: value, where: {variant: gru, condition: T50},
     measure: {name: final}, paper: level, tol: 0.01, why: two decimals}
  first:
    {statement: The TGU ends below the GRU., artefact: fig-1, test: order, less: {variant: tgu},
     than: {variant: gru}, each: [condition], measure: {name: final}, ratio: 0.5}
  rising:
    {statement: Longer sequences are harder., artefact: fig-1, test: trend, over: condition, direction: up,
     values: {T50: 50, T100: 100}, where: {variant: gru}, measure: {name: final}}
  solved:
    {statement: Most runs get there., artefact: fig-1, test: solves, where: {variant: tgu},
     measure: {name: first_below, threshold: 0.02}, within: 90, share: 0.5}
  size:
    {statement: The GRU has 316 numbers., artefact: table-1, test: count, where: {variant: gru},
     measure: {name: parameters}, equals: 316}
  held:
    {statement: The answer is held., artefact: fig-1, test: identity, probe: memory, item: answer_unit,
     name: correlation, tolerance: 0.1}
  both: {statement: Low and solved at once., artefact: fig-1, test: refers, claims: [first, solved]}
deviations:
  length: {paper: T = 250, ours: T = 50, effect: {claim: first}}
"""
COMPUTED = """\
title: Windows, small
kind: compute
source: {section: 4.2.2}
compute:
  {function: mathews2016.windows,
   arguments: {seed: 3, steps: 9, draws: 2, switch: 5, level: 0.9, levels: [0.5], picks: [2]}}
scales: {paper: {}, laptop: {}, smoke: {set: {compute.arguments.steps: 5}}}
artefacts:
  fig-2:
    draw: windows
    panels: [{title: one, series: [{item: a, name: forget, label: forget gate}]}]
    y: {label: weight}
    lines: [{value: 0.5, label: half}]
  table-2: {draw: table, rows: [item], columns: name, where: {name: [error]}}
claims:
  exact: {statement: The windows are exact., artefact: fig-2, test: identity, item: a, tolerance: 0}
  three: {statement: There are three., artefact: fig-2, test: count, of: {item: a, name: n}, equals: 3}
"""


VALUES = """\
id,artefact,condition,variant,option,item,measure,split,x,value,unit,tolerance,reason,runs,settings,source,page
level,,,,,,,,,0.17,,,,,,printed,
stored,fig-1,T50,tgu,,,recent,,20,0.1,,,,,,authors_log,
stored,fig-1,T50,tgu,,,recent,,40,0.05,,,,,,authors_log,
"""
"""The values of the paper whose figure is fig-1."""


def lines(*rows: dict[str, str]) -> str:
    """A table of values of these rows."""
    return "\n".join([HEAD, *(",".join(row.values()) for row in rows)]) + "\n"


@pytest.fixture
def reported(tmp_path):
    """A function that writes files of one paper and gives the problems that `check` finds there."""

    def check_files(table: str = VALUES, paper: str = "", **texts: str) -> list[str]:
        folder = tmp_path / "papers" / "paper2000"
        folder.mkdir(parents=True)
        if any("fig-1:" in text for text in texts.values()):
            (folder / "values.csv").write_text(table)
        if paper:
            (folder / "paper.yaml").write_text(paper)
        for name, text in texts.items():
            (folder / f"{name}.yaml").write_text(text)
        return checking.problems([tmp_path / "papers"], folder)

    return check_files


@pytest.fixture
def refused(reported):
    """A function that breaks a sound file in one place and asserts that one problem is reported, at the line
    of the fault, in these words."""

    def refuse(base: str, before: str, after: str, words: str, at: str | None = None) -> None:
        assert base.count(before) == 1, before
        text = base.replace(before, after)
        found = reported(small=text)
        assert len(found) == 1, found
        assert words in found[0], found
        start = text.index(at) if at else base.index(before)
        assert found[0].startswith(f"small.yaml:{text[:start].count(chr(10)) + 1}: "), found

    return refuse


@pytest.fixture
def whole() -> str:
    """A trained experiment with every block."""
    return WHOLE


@pytest.fixture
def computed() -> str:
    """A computed experiment."""
    return COMPUTED


@pytest.fixture
def reported_each(tmp_path):
    """A function that gives the problems of one file after another."""
    folder = tmp_path / "papers" / "paper2000"
    folder.mkdir(parents=True)
    (folder / "values.csv").write_text(VALUES)

    def check_file(text: str) -> list[str]:
        (folder / "small.yaml").write_text(text)
        return checking.problems([folder.parent], folder)

    return check_file
