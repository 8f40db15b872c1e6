"""Sizes of the tasks that are timed, and the cells that run on them."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tensor_rnns.models import Model, build


@dataclass(frozen=True)
class Workload:
    """Sizes of a task.

    `loss` is one of `variants.OURS`; `last_only` reads the last step alone; `embedding` reads symbols through
    a table of that width.
    """

    steps: int
    hidden: int
    rank: int
    batch: int
    inputs: int
    outputs: int
    loss: str
    last_only: bool = False
    embedding: int | None = None


WORKLOADS = {
    "W1": Workload(750, 8, 4, 8, 2, 1, "squared_error", last_only=True),
    "W2": Workload(200, 20, 20, 32, 10, 8, "bernoulli"),
    "W3": Workload(784, 100, 50, 100, 1, 10, "classes", last_only=True),
    "W4": Workload(100, 88, 22, 100, 83, 83, "classes", embedding=8),
    "W5": Workload(35, 128, 64, 20, 10_000, 10_000, "classes", embedding=128),
}
TASKS = {
    "W1": "addition",
    "W2": "variable binding",
    "W3": "permuted pixels",
    "W4": "War and Peace",
    "W5": "Penn Treebank, words",
}
TENSOR = ("tgu", "gmr", "cp_plus", "cp_delta", "tgu_tt")
CELLS = (*TENSOR, "lstm", "gru", "vanilla", "irnn")
COUPLED = ("tgu_c", "gmr_c")
"""Cells whose gates are coupled: their gradients are checked, and they are not timed."""


def small(load: Workload) -> Workload:
    """The same task in tiny sizes, all different; as many numbers enter the cell in each."""
    symbols = {"inputs": 11, "outputs": 11, "embedding": 7} if load.embedding else {"inputs": 7}
    return replace(load, steps=5, hidden=6, rank=3, batch=4, **symbols)


def data(load: Workload, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Random inputs [T, B, I] or symbols [T, B], and targets: [B, O] with `last_only`, else [T, B, O];
    classes [B] or [T, B]."""
    generator = torch.Generator().manual_seed(seed)
    rows = (load.batch,) if load.last_only else (load.steps, load.batch)
    if load.embedding:
        inputs = torch.randint(0, load.inputs, (load.steps, load.batch), generator=generator)
    else:
        inputs = torch.rand(load.steps, load.batch, load.inputs, generator=generator)
    if load.loss == "classes":
        return inputs, torch.randint(0, load.outputs, rows, generator=generator)
    return inputs, torch.rand(*rows, load.outputs, generator=generator).round()


def block(name: str, load: Workload) -> dict:
    """The settings of a cell; tgu_tt is a TGU of a tensor train."""
    found = {"name": name.removesuffix("_tt"), "hidden": load.hidden}
    if name in TENSOR + COUPLED:
        found["rank"] = load.rank
    return found | ({"form": "tensor_train"} if name.endswith("_tt") else {})


def settings(name: str, load: Workload) -> dict:
    """The blocks `model` and `cell` of an experiment of those sizes."""
    model = {"name": "last_output" if load.last_only else "every_step"}
    if load.embedding:
        model["embedding"] = load.embedding
    return {"model": model, "cell": block(name, load)}


def model(name: str, load: Workload, engine: str) -> Model:
    """The model of a cell on a workload."""
    symbols = load.embedding is not None
    return build(settings(name, load), load.inputs, load.outputs, engine, symbols)
