"""Where a memory looks, chapter10 section 12: at the right cell, sharply, and with part of a key."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from tensor_rnns.models.key_value_memory import KeyValueMemory
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of, series
from tensor_rnns.tasks.base import Batch
from tensor_rnns.tasks.key_value import KeyValue


def probe(trained: Trained) -> Findings:
    """Table rows of one memory on all test items of its task, and arrays of the first ten.

    w are its weights over K cells. Rows of the items `initial` and `trained`: right, the mean weight on the
    cell where the pair was stored; entropy of w in nats. Of the item `blanked`, index the number of bits of
    the query that are 0: bits, that number, and accuracy. Arrays: `weights` and `stored` [10, 1, K], the cell
    that was meant. ValueError for another model or task.
    """
    trained.require("addresses", model=KeyValueMemory, task=KeyValue)
    batch = batch_of(trained)
    first = {name: value[None] for name, value in trained.initial.items()}
    cell, numbers, w = batch.extra["cell"], {}, torch.empty(0)
    for item, values in (("initial", first), ("trained", trained.cohort)):
        w = weights(trained, values, batch)
        right = w.gather(0, cell[None])[0].mean()
        numbers[item] = {"right": right, "entropy": -(w * w.clamp(min=1e-300).log()).sum(0).mean()}
    shown = {"weights": w[:, :10].T, "stored": one_hot(cell[:10], len(w))}
    arrays = {name: values.float().unsqueeze(1) for name, values in shown.items()}
    accuracies = blanked(trained)
    rows = series("blanked", "bits", range(len(accuracies))) + series("blanked", "accuracy", accuracies)
    return arrays, rows_of(numbers) + rows


def batch_of(trained: Trained) -> Batch:
    """All items of the test split of its run, with a replica axis of one."""
    parts = list(trained.task.evaluation_of(trained.data_seed, "test"))
    inputs, targets = (
        torch.cat([torch.from_numpy(getattr(part, name)) for part in parts], -2).double()
        for name in ("inputs", "targets")
    )
    cells = torch.cat([torch.from_numpy(part.extra["cell"]) for part in parts])
    return Batch(inputs.unsqueeze(1), targets[None], len(cells), extra={"cell": cells})


def weights(trained: Trained, values: Mapping[str, Tensor], batch: Batch) -> Tensor:
    """w [K, B]."""
    return trained.model.apply(values, batch).states[0][:, 0]


def blanked(trained: Trained) -> list[float]:
    """The accuracy with 0, 1, .. bits of the query blanked, all of them at last."""
    accuracies = []
    for bits in range(trained.task.key_bits + 1):
        batch = batch_of(replace(trained, task=replace(trained.task, blanked=bits)))
        outputs = trained.model.apply(trained.cohort, batch).outputs
        accuracies.append(float(trained.task.metrics(outputs, batch.targets)["accuracy"]))
    return accuracies
