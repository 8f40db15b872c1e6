"""What memory cells hold over time, he2017 section h6: a test for each comment on the pictures."""

from collections.abc import Collection

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor

from tensor_rnns.papers.he2017.held import State, accuracy, delay, diagonal, entering, readable, run
from tensor_rnns.probes.trained import Findings, Trained, correlation, one_step_before
from tensor_rnns.rows import Rows, rows_of
from tensor_rnns.tasks.algorithmic import IntegerAddition, Memorization
from tensor_rnns.tasks.late_bytes import LateBytes
from tensor_rnns.tasks.pixels import Pixels

CERTAIN = 0.2
"""Bits of entropy below which a trigram makes the next byte certain."""
COUNTED = 4_000_000
"""Bytes of training that the trigrams are counted on."""
TIMES = 16
"""Steps of an image at which its class is read."""


def probe(trained: Trained, *, items: int = 200, resets: tuple[int, ...] = ()) -> Findings:
    """Arrays and table rows of one replica over `items` items of the test split, or all rows of a stream.

    Memory is C_t of the diagonal locations, from the input's corner 1 to the output's P. Arrays: `memory`
    [T, P], its mean over the channels in the first item, `frames` [T, P, M], and `inputs` [T, I].
    Rows: of `locations` what `apart` gives; of `kernel`, where the cell generates one, over_time and
    over_locations, the mean standard deviations of its entries. With an accuracy: of `accuracy` whole, and
    without_c and without_h where C or H is set to zero amid the sequence. Then what the task's own function
    below gives; where memory is read by an affine map, that is fitted on the split valid.
    """
    task = trained.task
    rows = next(iter(task.evaluation_of(trained.data_seed, "test"))).inputs.shape[1]
    inputs, targets = trained.items("test", min(items, rows) if task.carries_state else items)
    along = memory(trained, inputs)
    arrays = {"memory": along[:, 0].mean(-1), "frames": along[:, 0]}
    table = rows_of({"locations": apart(along, delay(trained))})
    if getattr(trained.model.cell, "memory_convolution", False):
        table += rows_of({"kernel": kernel(trained, inputs)})
    if not isinstance(task, LateBytes):
        table += rows_of({"accuracy": cuts(trained, inputs, targets)})
        arrays["inputs"] = torch.nn.functional.pad(inputs[:, 0], (0, 0, 0, len(along) - len(inputs)))
    if isinstance(task, Pixels):
        table += rows_of({"reset": {f"every_{n}": reset(trained, inputs, targets, n) for n in resets}})
    for kind, look in LOOKS.items():
        table += look(trained, inputs, targets, along) if isinstance(task, kind) else []
    return {name: values.float() for name, values in arrays.items()}, table


def memory(trained: Trained, inputs: Tensor) -> Tensor:
    """C of the diagonal locations [T, B, P, M]."""
    return torch.stack([diagonal(trained, c) for _, c in run(trained, inputs)])


def held(trained: Trained, inputs: Tensor, steps: Collection[int]) -> list[Tensor]:
    """All memory [B, N M] after some steps, counted from 0, in their order in time."""
    return [c.flatten(1) for t, (_, c) in enumerate(run(trained, inputs)) if t in steps]


def apart(along: Tensor, late: int) -> dict[str, float]:
    """Of memory [T, B, P, M] from step L on: participation, (sum of s)^2 / sum of s^2 of its variances s; for
    P > 1 largest_cosine, over the steps, of the mean cosine of two locations, growth, the logarithm of the
    deviation over items at P over that at 1, mean_lag and least_lag, the lags with the best correlation of p
    and p + 1."""
    along, side = along[late:], along.shape[2]
    centred = along.flatten(2).flatten(0, 1)
    gram = (centred - centred.mean(0)).mT @ (centred - centred.mean(0))
    numbers = {"participation": float(gram.trace().square() / gram.square().sum().clamp(min=1e-30))}
    if side == 1:
        return numbers
    unit, spread = torch.nn.functional.normalize(along, dim=-1), along.std(1).mean((0, 2)).clamp(min=1e-12)
    cosines = ((unit @ unit.mT).sum((-2, -1)) - side) / (side * (side - 1))
    lags = [best_lag(along[:, :, p], along[:, :, p + 1], side) for p in range(side - 1)]
    return numbers | {
        "largest_cosine": float(cosines.mean(1).max()),
        "growth": float((spread[-1] / spread[0]).log()),
        "mean_lag": float(np.mean(lags)),
        "least_lag": float(min(lags)),
    }


def best_lag(first: Tensor, second: Tensor, most: int) -> int:
    """The lag k, up to `most` steps either way, at which first_t and second_{t + k} correlate best, in the
    mean over channels."""
    by_lag, steps = {}, len(first)
    for k in range(-min(most, steps - 2), min(most, steps - 2) + 1):
        a, b = first[max(-k, 0) : steps - max(k, 0)], second[max(k, 0) : steps - max(-k, 0)]
        by_lag[k] = float(correlation(a.flatten(0, 1), b.flatten(0, 1)).mean())
    return max(by_lag, key=lambda k: by_lag[k])


def kernel(trained: Trained, inputs: Tensor) -> dict[str, Tensor]:
    """How much w_t[p] varies over t and over p."""
    cell = trained.model.cell
    p = {name: trained.parameters[f"cell/{name}"] for name in cell.shapes()}
    rows = torch.stack([h for h, _ in run(trained, inputs)])
    every = zip(entering(trained, inputs), one_step_before(rows), strict=True)
    q = torch.stack([cell.convolved(p, x, before)[..., 4 * cell.hidden :] for x, before in every])
    w = torch.softmax(q, -1)
    over_locations = w.std(2).mean() if w.shape[2] > 1 else torch.zeros(())
    return {"over_time": w.std(0).mean(), "over_locations": over_locations}


def cuts(trained: Trained, inputs: Tensor, targets: Tensor) -> dict[str, float]:
    """Accuracies: as it is, and with parts of the state set to zero amid the sequence."""
    names, middle = trained.model.cell.states, len(inputs) // 2

    def without(memory: bool):
        return lambda t, state: tuple(
            0 * part if t == middle and (name == "c") == memory else part
            for name, part in zip(names, state, strict=True)
        )

    changes = {"without_c": without(memory=True), "without_h": without(memory=False)}
    whole = {"whole": accuracy(trained, inputs, targets)}
    return whole | {name: accuracy(trained, inputs, targets, change) for name, change in changes.items()}


def reset(trained: Trained, inputs: Tensor, targets: Tensor, every: int) -> float:
    """The accuracy where the state is zero again after each `every` steps; not while a delayed answer is on
    its way."""

    def fresh(t: int, state: State) -> State:
        return tuple(0 * part for part in state) if t % every == 0 and t < len(inputs) else state

    return accuracy(trained, inputs, targets, fresh)


def shift(trained: Trained, inputs: Tensor, targets: Tensor, along: Tensor) -> Rows:
    """Memorization: `shift`, correlation: of time and the location that a symbol is best read from, between
    the step that it enters and the one that gives it back, by rank, the mean over symbols."""
    task, late, side = trained.task, delay(trained), along.shape[2]
    others, wanted = trained.items("valid", inputs.shape[1])
    labels, fitted, correlations = targets[task.due], wanted[task.due], []
    every = zip(memory(trained, others), along, strict=True)
    right = [
        [readable((given[:, p], fitted), (c[:, p], labels), task.kinds) for p in range(side)]
        for given, c in every
    ]
    best = torch.stack([torch.stack(rows) for rows in right]).argmax(1).T.tolist()
    for i, place in enumerate(best):
        rows = place[i + 1 : task.length + 2 + i + late]
        correlations.append(spearmanr(range(len(rows)), rows).statistic if len({*rows}) > 1 else 0.0)
    return rows_of({"shift": {"correlation": float(np.mean(correlations))}}) if side > 1 else []


def sums(trained: Trained, inputs: Tensor, targets: Tensor, along: Tensor) -> Rows:
    """Addition: the share of digits read from all memory, of the `first` number amid it (midway) and at
    the delimiter after it; of the `sum` there (before) and where its first digit leaves the net (after)."""
    task, (others, wanted) = trained.task, trained.items("valid", inputs.shape[1])
    steps = (task.digits + 1) // 2, task.digits + 1, task.due.start + delay(trained)
    midway, delimiter, due = zip(*(held(trained, x, steps) for x in (others, inputs)), strict=True)
    first = [x[1 : steps[1]].argmax(-1) for x in (others, inputs)]
    answer = [y[task.due] for y in (wanted, targets)]

    def share(values: tuple[Tensor, ...], labels: list[Tensor]) -> Tensor:
        (a, b), (x, y) = values, labels
        return readable((a, x), (b, y), task.kinds).mean()

    return rows_of({
        "first": {"midway": share(midway, first), "at_delimiter": share(delimiter, first)},
        "sum": {"before": share(delimiter, answer), "after": share(due, answer)},
    })  # fmt: skip


def pixels(trained: Trained, inputs: Tensor, targets: Tensor, along: Tensor) -> Rows:
    """Images: `change`, correlation of the norm of C_t - C_{t-1} with the pixel and with the contour, how far
    it is from the last one; `class`, slope: the rise per step of the share of classes read from all memory at
    TIMES steps."""
    steps, x = len(inputs), inputs[..., 0]
    change = (along[1:steps] - along[: steps - 1]).flatten(2).norm(dim=-1).flatten()
    with_what = {"pixel": x[1:], "contour": (x[1:] - x[:-1]).abs()}
    correlations = {name: correlation(change, values.flatten()) for name, values in with_what.items()}
    times = np.unique(np.linspace(0, len(along) - 1, TIMES).round().astype(int))
    others, wanted = trained.items("valid", inputs.shape[1])
    both = zip(held(trained, others, times), held(trained, inputs, times), strict=True)
    read = [float(readable((a, wanted[None]), (b, targets[None]), trained.task.outputs)) for a, b in both]
    return rows_of({"change": correlations, "class": {"slope": np.polyfit(times, read, 1)[0]}})


def carried(trained: Trained, inputs: Tensor, targets: Tensor, along: Tensor) -> Rows:
    """Bytes: `carried`, certain and others: the mean cosine of memory at location 1 and step t and of that at
    P and t + P - 1, for bytes whose trigram makes the next one certain, and for the others."""
    tokens = np.asarray(trained.task.tokens("train")[:COUNTED], dtype=np.int64)
    kinds, read = trained.task.inputs, inputs.numpy()
    pairs = tokens[:-2] * kinds + tokens[1:-1]
    known, counts = np.unique(pairs * kinds + tokens[2:], return_counts=True)
    context, place = np.unique(known // kinds, return_inverse=True)
    total = np.bincount(place, counts)
    share = counts / total[place]
    entropy = dict(zip(context, -np.bincount(place, share * np.log2(share)), strict=True))
    late = trained.model.cell.delay
    alike = torch.cosine_similarity(along[1 : len(along) - late, :, 0], along[1 + late :, :, -1], dim=-1)
    seen = (read[:-1] * kinds + read[1:])[: len(alike)]
    certain = torch.tensor(np.vectorize(lambda pair: entropy.get(pair, 9.0) < CERTAIN)(seen))
    groups = {"certain": alike[certain], "others": alike[~certain]}
    return rows_of({"carried": {name: values.mean() for name, values in groups.items() if len(values)}})


LOOKS = {Memorization: shift, IntegerAddition: sums, Pixels: pixels, LateBytes: carried}
"""What is looked at in the memory of each task."""
