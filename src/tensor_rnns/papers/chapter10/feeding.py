"""Sections 2.1 and 2.4: what enters a step beside the state: the last output, or a vector that stays."""

import numpy as np
import torch

from tensor_rnns.compute.nets import outputs, random_cell
from tensor_rnns.compute.statements import statement
from tensor_rnns.papers.chapter10.nets import Pass, leaf, weights_of


@statement("decoupled-2.1", "t n i k", x="t i", y="t k")
def decoupled(draw, t, n, i, k, x, y):
    """2.1: of h_t = tanh(U x_t + R y_{t-1} + b) with the true y, all steps as one batch give the gradients of
    the loop over steps."""
    cell, p = random_cell(draw, "dense", i + k, n)
    p |= {"V": torch.tensor(draw.standard_normal((n, k)))}
    fed = torch.tensor(np.hstack([x, np.vstack([np.zeros(k), y[:-1]])]))
    gradients = []
    for steps in ([slice(None)], [slice(at, at + 1) for at in range(t)]):
        own = {name: leaf(value) for name, value in p.items()}
        for at in steps:
            (h,) = cell.step(own, fed[at], ())
            (h @ own["V"] - torch.tensor(y[at])).square().sum().backward()
        gradients.append([value.grad.numpy() for value in own.values()])
    return list(zip(*gradients, strict=True))


@statement("likelihood-2.1", "n i", x="2 i")
def likelihood(draw, n, i, x):
    """2.1: with y_1 of the data fed in at step 2, exp(-L) of all (y_1, y_2) over four symbols is a joint
    distribution given x: it adds up to 1, and its own margin and conditionals are the two steps."""
    k = 4
    p = {name: value.detach() for name, value in weights_of(draw, n, i + k, k).items()}
    joint, first, second = np.zeros((k, k)), np.zeros(k), np.zeros((k, k))
    for one, two in np.ndindex(k, k):
        fed = np.hstack([x, np.stack([np.zeros(k), np.eye(k)[one]])])
        p = {name: leaf(value.detach()) for name, value in p.items()}
        ours = Pass(p, leaf(fed), torch.tensor([one, two]), leaf(np.zeros(n)))
        joint[one, two] = np.exp(-float(ours.loss.detach()))
        first[one], second[one, two] = ours.shares()[0, one], ours.shares()[1, two]
    margin = joint.sum(1)
    return [(joint.sum(), 1.0), (margin, first), (joint / margin[:, None], second)]


@statement("through-time-2.1", "i k")
def through_time(draw, i, k):
    """2.1: without W the gradients are the same where each state is taken as a constant of the next step;
    with W, `smallest_difference` is how much that changes them, as a share of their norm."""
    t, n, difference = 7, 12, []
    for recurrent in (False, True):
        full = Pass.drawn(draw, t, n, i, k)
        if not recurrent:
            with torch.no_grad():
                full.p["W"].zero_()
            full = full.again()
        cut = full.again(detach=True)
        names = "UWVbc" if recurrent else "UVbc"
        flat = [torch.cat([run.p[name].grad.flatten() for name in names]) for run in (full, cut)]
        difference.append(float((flat[0] - flat[1]).norm() / flat[0].norm()))
    return {"error": difference[0], "smallest_difference": difference[1]}


@statement("context-2.4", "t n i c", x="t i", context="c", R="c n")
def context(draw, n, i, c, x, context, R):
    """2.4: a vector that enters every step by R acts as the bias b + x^T R."""
    wide, p = random_cell(draw, "vanilla", i + c, n)
    p["W"][i:] = torch.tensor(R)
    fed = torch.tensor(np.hstack([x, np.tile(context, (len(x), 1))]))
    plain, _ = random_cell(draw, "vanilla", i, n)
    moved = {"W": p["W"][:i], "U": p["U"], "b": p["b"] + torch.tensor(context @ R)}
    return outputs(wide, p, fed).numpy(), outputs(plain, moved, torch.tensor(x)).numpy()
