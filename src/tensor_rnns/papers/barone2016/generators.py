"""What the generators of barone2016 draw, sections 3.0.1 to 3.0.3, by counting."""

from itertools import groupby
from typing import Literal

import numpy as np
from scipy import stats

from tensor_rnns import tasks
from tensor_rnns.rows import Rows, rows_of
from tensor_rnns.tasks.training_sets import BLANK, RUN, SYMBOLS, Repeated, legacy_orders

BATCH = 100
IMAGES = (50_000, 10_000)
"""Training and validation images, which are shuffled before the pixels."""


def parsed(inputs: list[int], targets: list[int]) -> tuple[list[int], int] | None:
    """The data and the lag of one item of copy memory, or None where it breaks a rule of the text: data
    symbols, lag - 1 blanks, one run symbol, blanks; as many blanks as steps to it, the data, blanks."""
    data = [symbol for symbol in inputs if symbol < SYMBOLS]
    runs = [symbol for symbol, _ in groupby(inputs[len(data) :])]
    if inputs[: len(data)] != data or RUN not in inputs or runs not in ([BLANK, RUN, BLANK], [RUN, BLANK]):
        return None
    start = inputs.index(RUN) + 1
    answer = [BLANK] * start + data
    due = answer + [BLANK] * (len(inputs) - len(answer))
    return (data, start - len(data)) if targets == due and inputs.count(RUN) == 1 else None


def copy_facts(gap: int, vary: str, items: int) -> dict[str, float]:
    """Of copy memory: `broken`, the share of items that break a rule of the text; `steps`; least and most
    data symbols and lags; p values of chi-square tests that symbols, and what varies, are uniform."""
    task = tasks.build(
        {"task": {"name": "copy_memory", "gap": gap, "vary": vary}, "training": {"batch": BATCH}}
    )
    answers = []
    for update in range(items // BATCH):
        batch = task.batch(0, update)
        answers += [
            parsed(*pair) for pair in zip(batch.inputs.T.tolist(), batch.targets.T.tolist(), strict=True)
        ]
    sound = [answer for answer in answers if answer is not None]
    lengths, lags = np.array([(len(data), lag) for data, lag in sound]).T
    symbols = np.bincount(np.concatenate([data for data, _ in sound]), minlength=SYMBOLS)
    facts = {
        "broken": 1 - len(sound) / len(answers), "steps": task.steps, "baseline": task.baseline,
        "shortest": lengths.min(), "longest": lengths.max(), "least_lag": lags.min(), "most_lag": lags.max(),
        "symbols": stats.chisquare(symbols).pvalue,
    }  # fmt: skip
    varying = {"length": (lengths, task.longest), "lag": (lags, task.gap)}
    if vary in varying:
        drawn, most = varying[vary]
        facts["varying"] = stats.chisquare(np.bincount(drawn, minlength=most + 1)[1:]).pvalue
    return facts


def addition_facts(length: int, markers: str, items: int) -> dict[str, float]:
    """Of addition: the share of items without exactly one marker in each half, in training and held out, and
    the largest distance of a target from the sum of the marked values."""
    settings = {"name": "addition_set", "length": length, "held_out_markers": markers, "held_out": items}
    task = tasks.build({"task": settings, "training": {"batch": BATCH}})
    facts, error = {}, 0.0
    for split in ("train", "test"):
        outside = 0
        for batch in task.evaluation(split):
            marks = batch.inputs[..., 1]
            sums = (batch.inputs[..., 0] * marks).sum(0)
            error = max(error, float(np.abs(sums - batch.targets[:, 0]).max()))
            halves = [half.sum(0) for half in (marks[: length // 2], marks[length - length // 2 :])]
            outside += int(((halves[0] != 1) | (halves[1] != 1)).sum())
        facts[f"outside_{split}"] = outside / items
    return facts | {"error": error}


def set_facts(task: Repeated) -> dict[str, float]:
    """Of a training set: its size, that of the held-out set, whether batch n after n batches differs from the
    first, and whether valid and test differ."""
    count = task.updates_per_epoch
    first, again = (task.batch(0, update).inputs for update in (0, count))
    splits = [next(task.evaluation(split)).inputs for split in ("valid", "test")]
    held = sum(batch.weight for batch in task.evaluation("test"))
    return {
        "sequences": count * task.batch_size, "held_out": held, "repeat_error": np.abs(first - again).max(),
        "split_error": np.abs(splits[0] - splits[1]).max(),
    }  # fmt: skip


def compute(*, copy: tuple[tuple[int, Literal["nothing", "length", "lag"]], ...], addition: int, pixels: int,
            batch: int, items: int) -> Rows:  # fmt: skip
    """Rows of items `copy N vary`, for each pair of `copy`; `addition markers` of so many steps; `set name`
    of the training sets in batches of `batch`; and `permutation` of so many `pixels`, whose `error` is how
    many of them it does not hold once, and `moved` the share that it moves. `items` sequences are counted."""
    facts = {f"copy {gap} {vary}": copy_facts(gap, vary, items) for gap, vary in copy}
    for markers in ("halves", "anywhere"):
        facts[f"addition {markers}"] = addition_facts(addition, markers, items)
    blocks = {"copy_memory": {"gap": copy[0][0]}, "addition_set": {"length": addition}}
    for name, block in blocks.items():
        task = tasks.build({"task": {"name": name, **block}, "training": {"batch": batch}})
        facts[f"set {name}"] = set_facts(task)
    order = legacy_orders(*IMAGES, pixels)[1]
    facts["permutation"] = {
        "error": float((np.bincount(order, minlength=pixels) != 1).sum()),
        "moved": (order != np.arange(pixels)).mean(), "pixels": len(order),
    }  # fmt: skip
    return rows_of(facts)
