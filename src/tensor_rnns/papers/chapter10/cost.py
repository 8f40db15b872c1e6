"""Section 2: what the gradient of an unfolded net costs in time and memory, and what cannot be parallel."""

import gc
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import engine
from tensor_rnns.cells import build
from tensor_rnns.declared import Natural
from tensor_rnns.dispatch import Flops
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.chapter10.clipping import omega
from tensor_rnns.papers.chapter10.nets import chains
from tensor_rnns.rows import Rows, row, rows_of

BLOCK, INPUTS = {"name": "vanilla", "hidden": 16}, 3


def fastest(updates: list[Callable[[], object]], repeats: int) -> list[float]:
    """The least milliseconds of each call in rounds, after one that is not timed: of the processor, which
    other jobs beside this one do not lengthen, and without the collector of garbage."""
    times = [[] for _ in updates]
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats + 1):
            for update, own in zip(updates, times, strict=True):
                began = time.process_time()
                update()
                own.append(1e3 * (time.process_time() - began))
    finally:
        gc.enable()
    return [min(own[1:]) for own in times]


def scan(name: str, seed: int) -> Callable[[int], None]:
    """The sum of all states of the vanilla cell over so many steps, by an engine, and its gradient."""
    cell, chosen = build(BLOCK, INPUTS), engine.find(name)
    p = {key: torch.tensor(value[None]).float() for key, value in cell.initialise(rng(seed)).items()}
    p = {key: value.requires_grad_() for key, value in p.items()}
    state = cell.initial_state(1, 1)

    def update(steps: int) -> None:
        outputs, _ = chosen.run(cell, p, torch.ones(steps, 1, 1, INPUTS), state)
        torch.autograd.grad(outputs.sum(), list(p.values()))

    return update


def line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and R^2 of the least-squares line."""
    return float(np.polyfit(x, y, 1)[0]), float(np.corrcoef(x, y)[0, 1] ** 2)


def saved(seed: int, steps: int) -> int:
    """Bytes that the eager loop keeps for its gradient, each storage once."""
    kept: dict[int, int] = {}

    def pack(value: Tensor) -> Tensor:
        kept[value.untyped_storage().data_ptr()] = value.untyped_storage().nbytes()
        return value

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        scan("eager", seed)(steps)
    return sum(kept.values())


def in_parallel(seed: int, steps: int, repeats: int) -> dict[str, float]:
    """The longest chain of tanh in the graph of 64 steps with a link between states, and of the layer fed the
    true outputs, which are one batch; `ratio` of their milliseconds an update at `steps`, batch 1."""
    draw = rng(seed, 1)
    shapes = (16, 16), (3, 16), (steps, 3)
    w, u, x = (torch.tensor(draw.standard_normal(shape), requires_grad=True) for shape in shapes)

    def linked(x: Tensor) -> Tensor:
        h, total = torch.zeros(1, 16, dtype=torch.float64), 0.0
        for now in x:
            h = torch.tanh(now[None] @ u + h @ w)
            total = total + h.sum()
        return total

    def fed(x: Tensor) -> Tensor:
        return torch.tanh(x @ u).sum()

    slow, quick = fastest([lambda: linked(x).backward(), lambda: fed(x).backward()], repeats)
    lengths = [chains("tanh", net, x[:64].detach())[1] for net in (linked, fed)]
    return {"linked": lengths[0], "fed": lengths[1], "ratio": slow / quick}


def regularised(seed: int, repeats: int) -> dict[str, float]:
    """An update of the vanilla net over 100 steps with Omega over one without: `ratio` of milliseconds, and
    `multiplications` in products of matrices, which no load of the machine changes."""
    draw = rng(seed, 2)
    w = torch.tensor(0.2 * draw.standard_normal((32, 32)), requires_grad=True)
    x = torch.tensor(draw.standard_normal((100, 16, 32)))

    def update(penalty: bool) -> None:
        h = [torch.zeros(16, 32, dtype=torch.float64)]
        for now in x:
            h.append(torch.tanh(now + h[-1] @ w.T))
        loss = h[-1].square().mean()
        if not penalty:
            torch.autograd.grad(loss, w)
            return
        g = torch.autograd.grad(loss, [w, *h[1:]])
        flat = [[part.reshape(-1, 32) for part in parts] for parts in (g[1:], h[1:])]
        torch.autograd.grad(omega([torch.cat(flat[0])], [torch.cat(flat[1])], w)[None].sum(), w)

    slow, quick = fastest([partial(update, True), partial(update, False)], repeats)
    return {"ratio": slow / quick, "multiplications": counted(update, True) / counted(update, False)}


def counted(call: Callable[..., object], *arguments: object) -> int:
    """Floating-point operations of the products of matrices in a call, with its gradients."""
    with Flops() as counter:
        call(*arguments)
    return counter.count


def compute(*, seed: Natural, lengths: tuple[int, ...], engines: tuple[str, ...], repeats: int) -> Rows:
    """Rows by length of the milliseconds an update of each engine (compiled is eager without a compiler) and
    of the bytes kept; `<engine>` with the `slope` of logarithms over the upper half of the lengths, `memory`
    with the `fit` of a line, `parallel` and `omega` as above."""
    numbers, curves, steps = {}, [], np.array(lengths)
    for name in engines:
        timed = fastest([partial(scan(name, seed), count) for count in lengths], repeats)
        curves += [row("milliseconds", name, *point) for point in zip(timed, lengths, strict=True)]
        upper = slice(len(lengths) // 2, None)
        numbers[name] = {"slope": line(np.log(steps[upper]), np.log(timed[upper]))[0]}
    kept = [saved(seed, count) for count in lengths]
    curves += [row("bytes", "eager", *point) for point in zip(kept, lengths, strict=True)]
    numbers["memory"] = {"fit": line(steps, np.array(kept))[1], "a step": line(steps, np.array(kept))[0]}
    numbers |= {"parallel": in_parallel(seed, 512, repeats), "omega": regularised(seed, repeats)}
    return rows_of(numbers) + curves
