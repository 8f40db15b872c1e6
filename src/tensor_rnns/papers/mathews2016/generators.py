"""What the generators of addition and variable binding draw, by counting (mathews2016, appendix B)."""

import itertools
import math
from typing import Any, Literal

import numpy as np
from scipy import stats

from tensor_rnns import tasks
from tensor_rnns.rows import Rows, rows_of
from tensor_rnns.tasks import Task
from tensor_rnns.tasks.variable_binding import end_laws

RULES = ("held", "printed")


def drawn(block: dict[str, Any], items: int, chunk: int) -> tuple[Task, list[Any]]:
    """The task of a block, and batches of `chunk` items each, `items` in all, or slightly more."""
    task = tasks.build({"task": block, "training": {"batch": chunk}})
    return task, [task.batch(0, update) for update in range(-(-items // chunk))]


def addition_facts(length: int, markers: str, items: int, chunk: int) -> dict[str, float]:
    """Of two marked numbers, steps counted from 1: what algorithm 1 says of them.

    `outside`: markers outside 1 .. T/2 - 1 and T/2 .. T; `first`, `second`: p values of chi-square tests that
    each is uniform there; `others`: items without exactly two markers; `error`: largest distance of a target
    from the sum; `mean`, `variance` of targets; `distance`: mean steps between the markers; `hold`: from the
    second to the end; `depth`: from the first to the end.
    """
    _, batches = drawn({"name": "addition", "length": length, "markers": markers}, items, chunk)
    places, targets, others, error = [], [], 0, 0.0
    for batch in batches:
        marks = batch.inputs[..., 1]
        others += int((marks.sum(0) != 2).sum())
        error = max(error, float(np.abs((batch.inputs[..., 0] * marks).sum(0) - batch.targets[:, 0]).max()))
        targets.append(batch.targets[:, 0])
        places.append([marks.argmax(0) + 1, length - marks[::-1].argmax(0)])
    (first, second), y = np.concatenate(places, axis=1), np.concatenate(targets).astype(float)
    half = length // 2
    early = np.bincount(first, minlength=length + 1)[1:half]
    late = np.bincount(second, minlength=length + 1)[half:]
    return {
        "outside": 2 * len(y) - early.sum() - late.sum(),
        "first": stats.chisquare(early).pvalue, "second": stats.chisquare(late).pvalue,
        "others": others, "error": error, "mean": y.mean(), "variance": y.var(),
        "distance": (second - first).mean(), "hold": (length - second).mean(),
        "depth": (length - first).mean(),
    }  # fmt: skip


def binding_facts(length: int, patterns: int, rule: str, items: int, chunk: int) -> dict[str, float]:
    """Of variable binding: shares of items or patterns that break a rule of the text, and what timing is
    worth.

    Shares of labels: `gaps`, not on for exactly one stretch; `lost`, still on at the last step, so that the
    pattern is never due; `past_half`, whose pattern is shown after step T/2 (counted from 1); `cut`, going
    out before the last step. Shares of items: `stray`, with bits on at a step that follows no rise;
    `together`, with two patterns shown at one step; `merged`, with two due at one step; `wrong`, with a
    target other than the OR of the patterns due. `hold`: mean share of the sequence that a label is on after
    its start. `ceiling` and `baseline` as the task states them; `guess`: see `guessed`; `oracle`: the mean
    cost of answering each due bit with its true chance, given how many patterns are due.
    """
    block = {"name": "variable_binding", "length": length, "patterns": patterns, "rule": rule}
    task, batches = drawn(block, items, chunk)
    counts = [broken(batch, task.bits, rule) for batch in batches]
    means = {name: float(np.mean([count[name] for count in counts])) for name in counts[0]}
    guess = guessed(length, patterns, task.bits, rule)
    return means | {"ceiling": task.ceiling, "baseline": task.baseline, "guess": guess}


def guessed(length: int, patterns: int, bits: int, rule: str) -> float:
    """What answering 0.5 at every step at which some pattern is due costs, in nats per item.

    A step is due unless none of the labels ends before it. `rule: held` draws starts without replacement, so
    that the chance of none is the mean, over all sets of N starts, of the product of their chances.
    """
    ends = end_laws(length, rule)
    if rule == "printed":
        none = (1 - ends.mean(0)[:-1]) ** patterns
    else:
        sums = [np.ones(length)] + [np.zeros(length) for _ in range(patterns)]
        for law in ends:
            for m in range(patterns, 0, -1):
                sums[m] = sums[m] + sums[m - 1] * (1 - law)
        none = sums[patterns] / math.comb(len(ends), patterns)
    return bits * math.log(2) * float((1 - none).sum())


def broken(batch: Any, bits: int, rule: str) -> dict[str, float]:
    """The means of one batch that `binding` averages."""
    steps, items = batch.inputs.shape[:2]
    labels = batch.inputs[..., bits:][..., ::-1] > 0.5
    edges = np.diff(labels, axis=0, prepend=False).sum(0) + labels[-1]
    start, on = labels.argmax(0), labels.sum(0)
    end, everyone = start + on - 1, np.arange(items)
    shown = [batch.inputs[start[:, k] + 1, everyone, :bits] for k in range(labels.shape[-1])]
    rises = np.zeros((steps + 1, items), bool)
    wanted, due = np.zeros((steps + 1, items, bits), np.float32), np.zeros((steps + 1, items), int)
    for k, pattern in enumerate(shown):
        rises[start[:, k] + 1, everyone] = True
        wanted[end[:, k] + 1, everyone] = np.maximum(wanted[end[:, k] + 1, everyone], pattern)
        due[end[:, k] + 1, everyone] += 1
    stray = (batch.inputs[..., :bits].any(-1) & ~rises[:-1]).any(0)
    equal = [starts.size - np.unique(starts).size for starts in start]
    there = np.nonzero(due[:-1])
    chance = 1 - 0.5 ** (due[there] if rule == "held" else np.ones(len(there[0])))[:, None]
    costs = -np.log(np.where(batch.targets[there] > 0, chance, 1 - chance))
    return {
        "gaps": (edges != 2).mean(),
        "lost": (end == steps - 1).mean(),
        "past_half": (start + 2 > steps // 2).mean(),
        "cut": (end == steps - 2).mean(),
        "stray": stray.mean(),
        "together": np.mean(np.array(equal) > 0),
        "merged": (due[:-1] > 1).any(0).mean(),
        "wrong": (wanted[:-1] != batch.targets).any((0, 2)).mean(),
        "hold": (end - start).mean() / steps,
        "oracle": costs.sum() / items,
    }


def compute(
    *, chunk: int, addition: tuple[tuple[int, Literal["halves", "printed"]], ...], addition_items: int,
    binding: tuple[int, ...], patterns: tuple[int, ...], binding_items: int,
) -> Rows:  # fmt: skip
    """Rows of items `addition T markers`, for each (T, markers) of `addition`, and `binding TxN rule`, for
    each length of `binding` and N of `patterns`; items are drawn `chunk` at a time."""
    numbers = {
        f"addition {length} {markers}": addition_facts(length, markers, addition_items, chunk)
        for length, markers in addition
    }
    for length, count, rule in itertools.product(binding, patterns, RULES):
        facts = binding_facts(length, count, rule, binding_items, chunk)
        numbers[f"binding {length}x{count} {rule}"] = facts
    return rows_of(numbers)
