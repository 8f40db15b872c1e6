"""Mistakes in figures of every kind are refused before any job, each reported once, with its line."""

import ast
import importlib
from pathlib import Path

import pytest

from tensor_rnns import drawing
from tensor_rnns.declared import keys
from tensor_rnns.drawing.render import kinds
from tensor_rnns.drawing.spec import Spec

TRAINED = {
    "bars": "draw: bars, panels: condition, groups: [variant], colour: cell.name, measure: {name: final},"
    " mark: dot, lines: [task_baseline], x: {scale: log, label: loss}",
    "sweep": "draw: sweep, over: cell.rank, colour: [cell.name, condition], measure: {name: final},"
    " also: {measure: {name: parameters}, label: size}, x: {limits: [1, 9]}",
    "values": "draw: sweep, over: condition, values: {T50: 50, T100: 100}, measure: {name: final}",
    "curves": "draw: curves, colour: cell.rank, panels: task.length, also: {of: loss, split: valid, width: 3,"
    " label: validation}, x: {unit: epoch}",
    "strips": "draw: strips, probe: memory, rows: [{array: a, label: b}], titles: [c], range: each,"
    " replica: {seed: 3}, where: {variant: tgu}",
    "traces": "draw: traces, probe: memory,"
    " rows: [{array: a, as: lines, item: 0, range: [0, 1]}], marks: {array: m, item: 0},"
    " replica: {best: median, measure: {name: final}}, x: {label: step}",
    "roll": "draw: roll, probe: memory, rows: [{array: a, play: true, lowest: 36}], beat: 4, tempo: 90",
    "text": "draw: text, probe: memory, rows: [{array: a}], most: 4",
    "scatter": "draw: scatter, probe: memory, x: {name: left, scale: log}, y: {name: right},"
    " panels: [{title: one, series: [{item: a, label: b, cell: tgu}]}], lines: [{from: [0, 1], to: [1, 0]}]",
}
"""A sound figure of each new kind."""
MISTAKES = {
    "bars": [
        ("colour: cell.name", "colour: sell.name", "colour is 'sell.name'; allowed is one column or setting"),
        ("groups: [variant]", "groups: [varient]", "unknown column 'varient'; did you mean 'variant'?"),
        ("panels: condition", "panels: [condition]", "panels is ['condition']; allowed is one column"),
        ("mark: dot", "mark: dots", "mark is 'dots'; did you mean 'dot'?"),
        ("measure: {name: final}, ", "", "drawing bars needs the key 'measure' ({name: ..., its keys})"),
        ("measure: {name: final}", "measure: {name: finale}", "unknown measure 'finale'"),
        ("[task_baseline]", "[baseline]", "lines 1 is 'baseline'; allowed is one of task_baseline or a"),
        ("x: {", "y: {", "drawing bars has no key 'y'; allowed are caption, colour,"),
        ("scale: log", "scale: logarithmic", "scale is 'logarithmic'; did you mean"),
    ],
    "sweep": [
        ("over: cell.rank, ", "", "drawing sweep needs the key 'over' (one column or setting)"),
        ("over: cell.rank", "over: condition", "condition is no number; give each its number under values"),
        ("over: cell.rank", "over: rank", "over: unknown column 'rank'; allowed are condition, dataset,"),
        ("condition]", "conditions]", "colour 2: unknown column 'conditions'; did you mean"),
        ("{name: parameters}", "{name: parameter}", "unknown measure 'parameter'"),
        ("also: {measure", "also: {mesure", "also needs the key 'measure' ({name: ..., its keys})"),
        ("limits: [1, 9]", "limits: 9", "limits is 9; allowed is a list of 2: a number, a number"),
    ],
    "values": [
        ("T100: 100}", "T200: 100}", "unknown condition 'T200'; did you mean"),
        ("T100: 100}", "T100: long}", "T100 is 'long'; allowed is a number"),
        ("values: {T50: 50, T100: 100}", "values: [50, 100]", "values is [50, 100]; allowed is a mapping"),
    ],
    "curves": [
        ("unit: epoch", "unit: epochs", "unit is 'epochs'; did you mean 'epoch'?"),
        ("split: valid", "split: validation", "split is 'validation'; did you mean 'valid'?"),
        ("of: loss, split", "off: loss, split", "unknown key 'off'; did you mean 'of'?"),
        ("panels: task.length", "panels: length", "panels: unknown column 'length'; allowed are condition,"),
    ],
    "strips": [
        ("probe: memory, ", "", "drawing strips needs the key 'probe' (a text)"),
        ("probe: memory", "probe: memori", "unknown probe 'memori'; did you mean 'memory'?"),
        ("replica: {seed: 3}", "replica: best", "replica is 'best'; allowed is a mapping of seed, best,"),
        ("replica: {seed: 3}", "replica: {seed: first}", "seed is 'first'; allowed is a whole number"),
        ("range: each", "range: every", "range is 'every'; allowed is one of each, shared or a list of"),
        ("rows: [{array: a, label: b}], ", "", "drawing strips needs the key 'rows' (a list of a mapping of"),
        ("{array: a, label: b}", "{label: b}", "rows 1 needs the key 'array' (a text)"),
        ("where: {variant: tgu}", "where: {variant: gmr}", "unknown variant 'gmr'"),
    ],
    "traces": [
        ("as: lines", "as: line", "as is 'line'; did you mean 'lines'?"),
        ("range: [0, 1]", "range: each", "range is 'each'; allowed is a list of 2: a number, a number"),
        ("best: median", "best: middle", "best is 'middle'; allowed are highest, lowest, median"),
        ("{name: final}", "{name: final, split: test}", "nothing is chosen on the split 'test'"),
        ("{name: final}", "{name: finale}", "unknown measure 'finale'"),
        ("item: 0, range", "items: 0, range", "unknown key 'items'; did you mean 'item'?"),
    ],
    "roll": [
        ("beat: 4", "beat: 0", "beat is 0; allowed is a number above 0"),
        ("tempo: 90", "tempo: fast", "tempo is 'fast'; allowed is a number above 0"),
        ("play: true", "played: true", "unknown key 'played'; did you mean 'play'?"),
    ],
    "text": [("most: 4", "most: 0", "most is 0; allowed is a whole number from 1 to a billion")],
    "scatter": [
        ("x: {name: left, scale: log}", "x: {scale: log}", "x needs the key 'name' (a text)"),
        ("to: [1, 0]", "to: 1", "to is 1; allowed is a list of 2: a number, a number"),
        ("item: a, label", "items: a, label", "series 1 needs the key 'item' (a text)"),
        ("probe: memory, ", "", "this drawing needs a probe"),
    ],
}  # fmt: skip
MORE = "artefacts:\n  fig-new:\n    {"
DIAGRAM = """\
  fig-new: {draw: diagram, panels: [{title: one, diagram: product, text: z}]}
"""
WINDOWS = """{function: mathews2016.windows,
   arguments: {seed: 3, steps: 9, draws: 2, switch: 5, level: 0.9, levels: [0.5], picks: [2]}}"""
DESCRIBED = """{function: mathews2016.diagrams,
   arguments: {seed: 1, draws: 2, diagrams: {product: {nodes: {a: {at: [0, 0]}}, equals: itself}}}}"""


@pytest.fixture
def base(whole):
    """The sound trained experiment with one figure more."""

    def with_figure(name: str) -> str:
        return whole.replace("artefacts:\n", f"{MORE}{TRAINED[name]}}}\n")

    return with_figure


@pytest.mark.parametrize("name", TRAINED)
def test_a_sound_figure_passes(reported, base, name):
    assert reported(small=base(name)) == []


@pytest.mark.parametrize(
    ("name", "mistake"), [(name, mistake) for name, mistakes in MISTAKES.items() for mistake in mistakes]
)
def test_an_invalid_key_is_reported(reported, base, name, mistake):
    before, after, words = mistake
    sound = TRAINED[name]
    assert sound.count(before) == 1, before
    text = base(name)
    line = text[: text.index(MORE) + len(MORE)].count("\n") + 1
    found = reported(small=text.replace(sound, sound.replace(before, after)))
    hits = [problem for problem in found if words in problem]
    assert hits, found
    assert hits[0].startswith((f"small.yaml:{line}:", f"small.yaml:{line - 1}:")), found
    assert len(found) <= 2, found


def test_kinds_of_drawing_keep_to_their_kind_of_experiment(reported, computed):
    text = computed.replace("artefacts:\n", f"{MORE}{TRAINED['bars']}}}\n")
    assert "bars draws an experiment of kind train; this one is of kind compute" in reported(small=text)[0]


def test_a_diagram_is_described_in_its_file(reported, computed):
    described = (
        computed.replace("artefacts:\n", "artefacts:\n" + DIAGRAM)
        .replace(WINDOWS, DESCRIBED)
        .replace("arguments.steps: 5", "arguments.draws: 1")
    )
    assert reported(small=described) == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "diagram: product, text",
            "diagram: produkt, text",
            "unknown diagram 'produkt'; did you mean 'product'?",
        ),
        (DESCRIBED, WINDOWS, "unknown diagram 'product'; allowed are none"),
        ("text: z", "word: z", "unknown key 'word'; allowed are diagram, text, title"),
    ],
)
def test_invalid_diagrams_are_reported(reported, computed, before, after, words):
    text = (
        computed.replace("artefacts:\n", "artefacts:\n" + DIAGRAM)
        .replace(WINDOWS, DESCRIBED)
        .replace("arguments.steps: 5", "arguments.draws: 1")
    )
    found = reported(small=text.replace(before, after))
    assert len(found) == 1, found
    assert words in found[0]


TABLE = """\
    rows: [variant]
    where: {condition: all}
"""
POOLED = {
    "a condition": (
        "    rows: [variant]\n",
        "columns.1: a row averages each condition of T100, T50; name cond",
    ),
    "a variant": (
        "    rows: [condition]\n",
        "columns.0: a row averages each variant of gru, tgu; name variant in",
    ),
    "of one variant": (
        "    where: {variant: tgu}\n",
        "columns.1: a row averages each condition of T100, T50;",
    ),
}
APART = {
    "rows": "    rows: [condition, variant]\n",
    "rows of one": "    rows: condition\n    where: {variant: tgu}\n",
    "data sets": "    rows: [dataset, variant]\n",
    "options": "    rows: [condition, variant]\n    where: {option: all}\n",
    "all of one": "    rows: [condition]\n    where: {variant: all}\n",
}


@pytest.mark.parametrize("case", POOLED)
def test_a_table_that_would_average_what_it_does_not_name_is_refused(reported, whole, case):
    lines, words = POOLED[case]
    found = reported(small=whole.replace(TABLE, lines))
    assert all("a row averages each " in line for line in found)
    assert f"artefacts.table-1.{words}" in found[0], found


@pytest.mark.parametrize("case", APART)
def test_a_table_whose_rows_are_apart_or_that_asks_for_the_mean_passes(reported, whole, case):
    assert whole.count(TABLE) == 1
    assert reported(small=whole.replace(TABLE, APART[case])) == []


@pytest.mark.parametrize(
    ("where", "label", "words"),
    [
        ("rows: [variant]", "tgv: TGU", "unknown name 'tgv'; did you mean 'tgu'?"),
        ("rows: [condition, variant]", "T51: short", "unknown name 'T51'; did you mean 'T50'?"),
        ("rows: [variant]", "tgu: TGU", None),
        ("rows: [condition, variant]", "T50: short", None),
    ],
)
def test_a_label_of_nothing_is_refused(reported, whole, where, label, words):
    found = reported(small=whole.replace("    rows: [variant]\n", f"    {where}\n    labels: {{{label}}}\n"))
    assert [line for line in found if "labels" in line] == found
    assert [words in line for line in found] == ([True] if words else [])


HELPERS = {
    **dict.fromkeys(("bars", "sweep"), ("beside", "groups", "numbers", "render")),
    **dict.fromkeys(("strips", "traces", "roll", "text", "scatter", "film"), ("groups", "replica", "render")),
    "curves": ("beside", "groups", "render"),
    "table": ("render",),
    **dict.fromkeys(("profiles", "improvement", "standing"), ("entrants", "render")),
    **dict.fromkeys(("diagram", "windows"), ()),
}
"""The modules beside a kind of drawing that read its block."""


def keys_read(*modules: str) -> set[str]:
    """Every key that the sources take from the record of an artefact, or from its block."""
    found = set()
    for module in modules:
        tree = ast.parse((Path(drawing.__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).startswith(("spec", "Spec.of(")):
                found.add(node.attr)
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("artefact.spec.get"):
                found.add(ast.literal_eval(node.args[0]))
    return found


@pytest.mark.parametrize("kind", HELPERS)
def test_every_allowed_key_is_read(kind):
    """A key that a kind of drawing declares and nothing reads would be accepted in vain."""
    module = importlib.import_module(f"{drawing.__name__}.{kind}")
    assert keys(module.Spec).keys() - keys(Spec).keys() <= keys_read(kind, *HELPERS[kind])


def test_every_kind_is_looked_at():
    assert HELPERS.keys() == kinds().keys()
