"""What training makes of the time scales of a net, chapter10 section 9: its leaks, and its long links."""

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import row


def probe(trained: Trained) -> Findings:
    """Table rows of one replica with the cell `leaky` or `linked`; no arrays.

    Of learned leaks: rows of the item `alpha`, index the unit, name trained and, on a task of one factor,
    off, their distance from it. Of links with a delay beside links of one step: of the item `links`, names
    initial and trained, the norm of V over that of U. ValueError for another cell.
    """
    if "cell/a" in trained.parameters:
        alphas = torch.sigmoid(trained.parameters["cell/a"]).flatten().tolist()
        rows = [row("alpha", "trained", alpha, unit) for unit, alpha in enumerate(alphas)]
        factors = getattr(trained.task, "factors", ())
        if len(factors) == 1:
            rows += [row("alpha", "off", abs(alpha - factors[0]), unit) for unit, alpha in enumerate(alphas)]
        return {}, rows
    if {"cell/U", "cell/V"} <= trained.parameters.keys():
        first, last = ratio(trained.initial), ratio(trained.parameters)
        return {}, [row("links", "initial", first), row("links", "trained", last)]
    given = f"the cell {trained.model.cell.name} without learned leaks and without both kinds of links given"
    raise ValueError(f"the probe weights_of_time: {given}; allowed: leaky with learned, linked with one_step")


def ratio(values: dict[str, Tensor]) -> float:
    """|V| / |U|."""
    return float(values["cell/V"].norm() / values["cell/U"].norm())
