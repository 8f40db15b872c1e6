"""Slips in figures of every kind are refused before any job, each told once, with its line."""

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
    " rows: [{array: a, as: lines, item: 0, units: [1], range: [0, 1]}], marks: {array: m, item: 0},"
    " replica: {best: median, measure: {name: final}}, x: {label: step}",
    "roll": "draw: roll, probe: memory, rows: [{array: a, play: true, lowest: 36}], beat: 4, tempo: 90",
    "text": "draw: text, probe: memory, rows: [{array: a}], letters: 60, most: 4",
    "scatter": "draw: scatter, probe: memory, x: {name: left, scale: log}, y: {name: right},"
    " panels: [{title: one, series: [{item: a, label: b, cell: tgu}]}], lines: [{from: [0, 1], to: [1, 0]}]",
}
"""A sound figure of each new kind."""
SLIPS = {
    "bars": [
        ("colour: cell.name", "colour: sell.name", "colour names 'sell.name'"),
        ("groups: [variant]", "groups: [varient]", "groups names 'varient'; did you mean 'variant'?"),
        ("panels: condition", "panels: [condition]", "panels is ['condition']; allowed is one column"),
        ("mark: dot", "mark: dots", "mark is 'dots'; did you mean 'dot'?"),
        ("measure: {name: final}, ", "", "bars need a measure"),
        ("measure: {name: final}", "measure: {name: finale}", "unknown measure 'finale'"),
        ("[task_baseline]", "[baseline]", "lines names 'baseline'; allowed are task_baseline"),
        ("x: {", "y: {", "drawing of kind bars has no key 'y'"),
        ("scale: log", "scale: logarithmic", "scale is 'logarithmic'; did you mean"),
    ],
    "sweep": [
        ("over: cell.rank, ", "", "a sweep needs 'over'"),
        ("over: cell.rank", "over: condition", "condition is no number; give each its number under values"),
        ("over: cell.rank", "over: rank", "over names 'rank'"),
        ("condition]", "conditions]", "colour names 'conditions'; did you mean 'condition'?"),
        ("{name: parameters}", "{name: parameter}", "unknown measure 'parameter'"),
        ("also: {measure", "also: {mesure", "also of a drawing of kind sweep has no key 'mesure'"),
        ("limits: [1, 9]", "limits: 9", "limits is 9; allowed is a list of two numbers"),
    ],
    "values": [
        ("T100: 100}", "T200: 100}", "unknown condition 'T200'; did you mean"),
        ("T100: 100}", "T100: long}", "the number of T100 is 'long'; allowed is a number"),
        ("values: {T50: 50, T100: 100}", "values: [50, 100]", "allowed is a mapping of names to numbers"),
    ],
    "curves": [
        ("unit: epoch", "unit: epochs", "unit is 'epochs'; did you mean 'epoch'?"),
        ("split: valid", "split: validation", "split of the measure running is 'validation'"),
        ("of: loss, split", "off: loss, split", "also of a drawing of kind curves has no key 'off'"),
        ("panels: task.length", "panels: length", "panels names 'length'"),
    ],
    "strips": [
        ("probe: memory, ", "", "this drawing needs a probe; allowed are memory"),
        ("probe: memory", "probe: memori", "unknown probe 'memori'; did you mean 'memory'?"),
        ("replica: {seed: 3}", "replica: best", "replica is 'best'; allowed are {seed: 0} and {best:"),
        ("replica: {seed: 3}", "replica: {seed: first}", "seed is 'first'; allowed is a whole number"),
        ("range: each", "range: every", "range is 'every'; allowed are each, shared, [low, high]"),
        ("rows: [{array: a, label: b}], ", "", "rows is needed; allowed is a list of {array, label, ...}"),
        ("{array: a, label: b}", "{label: b}", "the row {'label': 'b'}; allowed is {array, label, ...}"),
        ("where: {variant: tgu}", "where: {variant: gmr}", "unknown variant 'gmr'"),
    ],
    "traces": [
        ("as: lines", "as: line", "as is 'line'; did you mean 'lines'?"),
        ("range: [0, 1]", "range: each", "range is 'each'; allowed are [low, high]"),
        ("best: median", "best: middle", "best is 'middle'; allowed are highest, lowest, median"),
        ("{name: final}", "{name: final, split: test}", "nothing is chosen on the split 'test'"),
        ("{name: final}", "{name: finale}", "unknown measure 'finale'"),
        ("item: 0, units", "items: 0, units", "rows of a drawing of kind traces has no key 'items'"),
    ],
    "roll": [
        ("beat: 4", "beat: 0", "beat is 0; allowed is a number above 0"),
        ("tempo: 90", "tempo: fast", "tempo is 'fast'; allowed is a number above 0"),
        ("play: true", "played: true", "rows of a drawing of kind roll has no key 'played'"),
    ],
    "text": [("most: 4", "most: 0", "most is 0; allowed is a whole number above 0")],
    "scatter": [
        ("x: {name: left, scale: log}", "x: {scale: log}", "x needs the name of its number: {name, ...}"),
        ("to: [1, 0]", "to: 1", "allowed is {from: [x, y], to: [x, y], label}"),
        ("item: a, label", "items: a, label", "panels.series of a drawing of kind scatter has no key"),
        ("probe: memory, ", "", "this drawing needs a probe"),
    ],
}  # fmt: skip
MORE = "artefacts:\n  fig-new:\n    {"
DIAGRAM = """\
  fig-new: {draw: diagram, panels: [{title: one, diagram: product, text: z}]}
"""
DESCRIBED = "steps: 9, diagrams: {product: {nodes: {}}}"


@pytest.fixture
def base(whole):
    """The sound trained experiment with one figure more."""

    def with_figure(name: str) -> str:
        return whole.replace("artefacts:\n", f"{MORE}{TRAINED[name]}}}\n")

    return with_figure


@pytest.mark.parametrize("name", TRAINED)
def test_a_sound_figure_passes(told, base, name):
    assert told(small=base(name)) == []


@pytest.mark.parametrize(("name", "slip"), [(name, slip) for name, slips in SLIPS.items() for slip in slips])
def test_a_slip_is_told(told, base, name, slip):
    before, after, words = slip
    sound = TRAINED[name]
    assert sound.count(before) == 1, before
    text = base(name)
    line = text[: text.index(MORE) + len(MORE)].count("\n") + 1
    found = told(small=text.replace(sound, sound.replace(before, after)))
    hits = [problem for problem in found if words in problem]
    assert hits, found
    assert hits[0].startswith((f"small.yaml:{line}:", f"small.yaml:{line - 1}:")), found
    assert len(found) <= 2, found


def test_kinds_of_drawing_keep_to_their_kind_of_experiment(told, computed):
    text = computed.replace("artefacts:\n", f"{MORE}{TRAINED['bars']}}}\n")
    assert "bars draws an experiment of kind train; this one is of kind compute" in told(small=text)[0]


def test_a_diagram_is_described_in_its_file(told, computed):
    described = computed.replace("artefacts:\n", "artefacts:\n" + DIAGRAM).replace("steps: 9", DESCRIBED)
    assert told(small=described) == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "diagram: product, text",
            "diagram: produkt, text",
            "unknown diagram 'produkt'; did you mean 'product'?",
        ),
        (DESCRIBED, "steps: 9", "described in compute.arguments.diagrams, which this file lacks"),
        ("text: z", "word: z", "panels of a drawing of kind diagram has no key 'word'"),
    ],
)
def test_slips_of_diagrams_are_told(told, computed, before, after, words):
    text = computed.replace("artefacts:\n", "artefacts:\n" + DIAGRAM).replace("steps: 9", DESCRIBED)
    found = told(small=text.replace(before, after))
    assert len(found) == 1, found
    assert words in found[0]


HELPERS = {
    **dict.fromkeys(("bars", "sweep"), ("beside", "groups", "numbers")),
    **dict.fromkeys(("strips", "traces", "roll", "text", "scatter"), ("groups", "replica")),
    "curves": ("beside", "groups"),
    "diagram": (),
}
"""The modules beside a kind of drawing that read its block."""


def keys_read(*modules: str) -> set[str]:
    """Every literal key that the sources take from the block of an artefact."""
    found = set()
    for module in modules:
        tree = ast.parse((Path(drawing.__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            asked = None
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("spec.get", "artefact.spec.get"):
                asked = node.args[0]
            elif isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("spec", "artefact.spec"):
                asked = node.slice
            elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) in (
                "spec",
                "artefact.spec",
            ):
                asked = node.left
            if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                found.add(asked.value)
    return found


@pytest.mark.parametrize("kind", HELPERS)
def test_the_allowed_keys_are_those_that_are_read(kind):
    """The specification of a kind of drawing names every key that the code reads and no other."""
    module = importlib.import_module(f"{drawing.__name__}.{kind}")
    allowed = keys(module.Spec).keys() - keys(Spec).keys()
    assert keys_read(kind, *HELPERS[kind]) - {"printed"} == allowed


def test_every_kind_is_looked_at():
    assert HELPERS.keys() == kinds().keys() - {"table", "windows"}
