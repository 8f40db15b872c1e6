"""How far around a step its output looks, chapter10 section 3: mean |do_t/dx_s| by the distance s - t, of
several outputs the derivative of their sum."""

import torch

from tensor_rnns.models import Inputs
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of, series

FAR = 4
"""The distance at which the derivative is held against the largest."""


def probe(trained: Trained, *, items: int = 50, reach: int = 6) -> Findings:
    """Table rows of the item `window`, for each distance from -`reach` to `reach`: `distance`, and
    `sensitivity`, the mean over `items` items of the test split and over the steps that have such neighbours.
    `peak`, `distance` is that of the largest, without its sign; `far`, `share` the larger at distance 4 over
    it.

    ValueError where a sequence has no step with `reach` neighbours on both sides, or a reach below 4.
    """
    inputs, _ = trained.items("test", items)
    steps = range(reach, len(inputs) - reach)
    if not steps or reach < FAR:
        allowed = f"from {FAR} to {(len(inputs) - 1) // 2} for {len(inputs)} steps"
        raise ValueError(f"reach = {reach} given; allowed: {allowed}")
    x = inputs[:, None].clone().requires_grad_()
    outputs = trained.model.apply(trained.cohort, Inputs(x)).outputs
    window = torch.zeros(2 * reach + 1, dtype=x.dtype)
    for t in steps:
        (slope,) = torch.autograd.grad(outputs[t].sum(), x, retain_graph=True)
        window += slope[t - reach : t + reach + 1].abs().mean((1, 2, 3)) / len(steps)
    far = max(window[reach - FAR], window[reach + FAR]) / window.max()
    rows = series("window", "distance", range(-reach, reach + 1)) + series("window", "sensitivity", window)
    peak = abs(int(window.argmax()) - reach)
    return {"window": window}, rows + rows_of({"peak": {"distance": peak}, "far": {"share": far}})
