"""Proves that the counts of the generators see each broken rule in an item made by hand, and none in a sound
one."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tensor_rnns import functions, tasks
from tensor_rnns.papers.mathews2016 import generators

SMALL = {
    "chunk": 100, "addition": [[20, "halves"], [30, "printed"]], "addition_items": 200, "binding": [12],
    "patterns": [1, 2], "binding_items": 300,
}  # fmt: skip
STEPS, BITS = 8, 2


def item(spans, shown, due):
    """A batch of one item: labels on over `spans`, patterns shown and due by {step: bits}."""
    x, y = np.zeros((STEPS, 1, BITS + len(spans)), np.float32), np.zeros((STEPS, 1, BITS), np.float32)
    for k, steps in enumerate(spans):
        x[steps, 0, -1 - k] = 1
    for step, bits in shown.items():
        x[step, 0, :BITS] = bits
    for step, bits in due.items():
        y[step, 0] = bits
    return SimpleNamespace(inputs=x, targets=y)


def breaches(spans, shown, due, rule="held"):
    found = generators.broken(item(spans, shown, due), BITS, rule)
    return {name for name in ("gaps", "lost", "past_half", "stray", "together", "wrong") if found[name]}


def test_a_sound_item_breaks_no_rule():
    sound = ([[1, 2, 3], [0, 1, 2, 3, 4]], {2: [1, 0], 1: [1, 1]}, {4: [1, 0], 5: [1, 1]})
    assert breaches(*sound) == set()
    found = generators.broken(item(*sound), BITS, "held")
    assert found["hold"] == (2 + 4) / 2 / STEPS
    assert (found["merged"], found["cut"]) == (0, 0)
    assert found["oracle"] == pytest.approx(4 * math.log(2))


@pytest.mark.parametrize(
    ("rule", "spans", "shown", "due"),
    [
        ("gaps", [[1, 2, 4]], {2: [1, 0]}, {4: [1, 0]}),
        ("lost", [[1, 2, 3, 4, 5, 6, 7]], {2: [1, 0]}, {}),
        ("past_half", [[3, 4, 5]], {4: [1, 0]}, {6: [1, 0]}),
        ("stray", [[1, 2, 3]], {2: [1, 0], 3: [1, 0]}, {4: [1, 0]}),
        ("together", [[1, 2, 3], [1, 2]], {2: [1, 0]}, {4: [1, 0], 3: [1, 0]}),
        ("wrong", [[1, 2, 3]], {2: [1, 0]}, {4: [1, 1]}),
        ("wrong", [[1, 2, 3]], {2: [1, 0]}, {4: [1, 0], 6: [0, 1]}),
    ],
)
def test_each_breach_is_seen_alone(rule, spans, shown, due):
    assert breaches(spans, shown, due) - ({"wrong"} if rule == "gaps" else set()) == {rule}


def test_patterns_due_together_are_merged_and_cheaper():
    """Three bits of the OR of [1, 0] and [1, 1] with chance 3/4: both are on."""
    both = ([[1, 2, 3], [0, 1, 2, 3]], {2: [1, 0], 1: [1, 1]}, {4: [1, 1]})
    found = generators.broken(item(*both), BITS, "held")
    assert (found["merged"], found["wrong"]) == (1, 0)
    assert found["oracle"] == pytest.approx(-2 * math.log(0.75))
    assert generators.broken(item(*both), BITS, "printed")["oracle"] == pytest.approx(2 * math.log(2))


@pytest.mark.parametrize("rule", ["held", "printed"])
@pytest.mark.parametrize("patterns", [1, 2, 3])
def test_a_guess_costs_ln_2_for_each_bit_of_each_step_at_which_something_is_due(rule, patterns):
    """By counting the steps that are due in drawn items; one target in 2^16 has no bit and is missed."""
    length, bits, items = 12, 16, 20_000
    block = {"name": "variable_binding", "length": length, "patterns": patterns, "bits": bits, "rule": rule}
    task = tasks.build({"task": block, "training": {"batch": items}})
    due = task.batch(0, 0).targets.any(-1).sum(0)
    error = bits * math.log(2) * due.std() / math.sqrt(items)
    found = generators.guessed(length, patterns, bits, rule)
    assert abs(found - bits * math.log(2) * due.mean()) < 4 * error + 0.01
    assert found <= task.ceiling + 1e-9


def test_labels_that_go_out_before_the_last_step_are_cut():
    cut = ([[0, 1, 2, 3, 4, 5, 6]], {1: [1, 0]}, {7: [1, 0]})
    assert generators.broken(item(*cut), BITS, "held")["cut"] == 1
    assert breaches(*cut) == set()


def test_addition_by_either_rule():
    """The printed halves are uniform where algorithm 1 says; the equal halves leave them at one step of
    T/2."""
    printed = generators.addition_facts(20, "printed", 4000, 500)
    assert (printed["outside"], printed["others"]) == (0, 0)
    assert printed["error"] < 1e-6
    assert min(printed["first"], printed["second"]) > 0.01
    assert abs(printed["distance"] - (15 - 5)) < 0.3
    assert abs(printed["hold"] - 5) < 0.2
    assert abs(printed["depth"] - 15) < 0.2
    halves = generators.addition_facts(20, "halves", 4000, 500)
    assert abs(halves["outside"] / 4000 - 0.1) < 0.02
    assert halves["second"] < 1e-6


def test_the_rows_of_all_generators():
    table = {
        (row["item"], row["name"]): row["value"]
        for row in functions.computed("mathews2016.generators")(SMALL)
    }
    items = {item for item, _ in table}
    assert items == {
        "addition 20 halves", "addition 30 printed", "binding 12x1 held", "binding 12x1 printed",
        "binding 12x2 held", "binding 12x2 printed",
    }  # fmt: skip
    assert table["binding 12x2 held", "ceiling"] == pytest.approx(16 * math.log(2))
    for name in ("gaps", "lost", "stray", "together", "wrong"):
        assert table["binding 12x2 held", name] == 0
    for name in ("past_half", "cut", "merged"):
        assert table["binding 12x2 held", name] > 0
    for name in ("lost", "together", "wrong"):
        assert table["binding 12x2 printed", name] > 0
    assert table["binding 12x2 printed", "past_half"] == 0
    assert abs(table["binding 12x2 held", "oracle"] - table["binding 12x2 held", "baseline"]) < 0.4


def test_other_arguments_are_refused():
    with pytest.raises(ValueError, match=r"generators needs the key"):
        functions.computed("mathews2016.generators")({"chunk": 3})
