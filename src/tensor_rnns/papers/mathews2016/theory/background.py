"""Statements of mathews2016 chapter 2: losses, back-propagation, products."""

import numpy as np
import torch
from scipy.special import softmax

from tensor_rnns.compute.statements import jacobian, normal, sizes, statement
from tensor_rnns.papers.mathews2016.theory.bilinear import by_definition, identity_tensor
from tensor_rnns.papers.mathews2016.theory.decompositions import cp_product

STEPS = 6


def cross_entropy(target: np.ndarray, output: np.ndarray) -> float:
    """- sum over d of y_d log(output_d), with 0 log 0 = 0 (2.1.1)."""
    return float(-sum(y * np.log(p) for y, p in zip(target, output, strict=True) if y > 0))


@statement("footnote-1-2.1.1", "n", scores="n")
def one_hot_likelihood(draw, n, scores):
    """2.1.1, footnote 1: with one-hot targets the cross entropy is -log of the likelihood of the class."""
    label = int(draw.integers(n))
    likelihood = -torch.log_softmax(torch.as_tensor(scores), 0)[label].item()
    return cross_entropy(np.eye(n)[label], softmax(scores)), likelihood


@statement("zero-loss-2.1.1", "n", target="n", output="n")
def zero_loss(draw, n, target, output):
    """2.1.1: a loss of 0 means that target and output agree.

    The squared error is the squared distance, 0 at the target only. The cross entropy is entropy plus
    divergence: 0 when a one-hot target is met; for soft targets it is never 0, its minimum being the
    entropy (`smallest_soft`).
    """
    squared = sum((y - p) ** 2 for y, p in zip(target, output, strict=True))
    soft, other = softmax(target), softmax(output)
    label = np.eye(n)[int(draw.integers(n))]
    entropy, divergence = -np.sum(soft * np.log(soft)), np.sum(soft * np.log(soft / other))
    errors = [
        (squared, np.linalg.norm(target - output) ** 2),
        (cross_entropy(label, label), 0.0),
        (cross_entropy(soft, soft), entropy),
        (cross_entropy(soft, other), entropy + divergence),
        divergence < 0,
    ]
    return {"error": errors, "smallest_soft": entropy}


class Recurrence:
    """A vanilla RNN (eq 2.2, tanh) on random inputs with the loss L_j = v_j . cos(h_j) at every step."""

    def __init__(self, draw: np.random.Generator) -> None:
        self.hidden, inputs = sizes(draw, 2)
        self.w = normal(draw, self.hidden, self.hidden) / np.sqrt(self.hidden)
        self.u = normal(draw, self.hidden, inputs) / np.sqrt(inputs)
        self.b, self.x = 0.1 * normal(draw, self.hidden), normal(draw, STEPS, inputs)
        self.v = normal(draw, STEPS, self.hidden)
        self.states = [normal(draw, self.hidden)]
        for x in self.x:
            self.states.append(np.tanh(self.w @ self.states[-1] + self.u @ x + self.b))

    def slopes(self, k: int) -> np.ndarray:
        """f'(z_k) for step k = 1..STEPS."""
        return 1 - self.states[k] ** 2

    def local(self, j: int) -> np.ndarray:
        """dL_j / dh_j."""
        return -self.v[j - 1] * np.sin(self.states[j])

    def back(self, i: int, j: int) -> np.ndarray:
        """Eq 2.3 as corrected: the product of W^T diag(f'(z_k)), k = i+1..j rising, times dL_j / dh_j."""
        gradient = self.local(j)
        for k in range(j, i, -1):
            gradient = self.w.T @ (self.slopes(k) * gradient)
        return gradient

    def losses(self, w, state, first: int):
        """L_(first), ..., L_(STEPS) from the state before them, for automatic differentiation."""
        out = []
        for k in range(first - 1, STEPS):
            state = torch.tanh(w @ state + torch.as_tensor(self.u @ self.x[k] + self.b))
            out.append(torch.as_tensor(self.v[k]) @ torch.cos(state))
        return torch.stack(out)


@statement("gradient-sum-2.2.2")
def gradient_sum(draw):
    """2.2.2: the gradient of the summed loss at h_i is the sum over the losses from i on."""
    net = Recurrence(draw)
    i = int(draw.integers(1, STEPS))
    summed = sum(net.back(i, j) for j in range(i + 1, STEPS + 1))
    wanted = jacobian(lambda h: net.losses(torch.as_tensor(net.w), h, i + 1).sum(), net.states[i])
    return summed + net.local(i), wanted + net.local(i)


@statement("eq-2.3")
def back_propagation(draw):
    """Eq 2.3: from step j to i, a product of step Jacobians times dL_j / dh_j.

    As a column, the gradient needs the factors W^T diag(f'(z_k)), k rising from left to right; the second
    line prints diag(f'(z_k)) W, the untransposed Jacobians in that order.
    """
    net = Recurrence(draw)
    i, j = 1, STEPS
    wanted = jacobian(lambda h: net.losses(torch.as_tensor(net.w), h, i + 1)[j - i - 1], net.states[i])
    printed = np.eye(net.hidden)
    for k in range(i + 1, j + 1):
        printed = printed @ (net.slopes(k)[:, None] * net.w)
    return {"printed_error": (printed @ net.local(j), wanted), "corrected_error": (net.back(i, j), wanted)}


@statement("eq-2.4")
def weight_gradient(draw):
    """Eq 2.4: the gradient of W is a double sum over losses i and earlier states j of (dh_j/dW)(dL_i/dh_j).

    dh_j/dW is the direct derivative, h_(j-1) held fixed. With vec(W) its shape is m^2 x m and that of the
    gradient m^2 x 1; footnote 2 prints m x n and m x 1 (`footnote_error`: rows printed against rows
    needed).
    """
    net = Recurrence(draw)
    m = net.hidden
    total = np.zeros((m * m, 1))
    for i in range(1, STEPS + 1):
        for j in range(1, i + 1):
            direct = np.einsum("ab,c->bac", np.eye(m), net.states[j - 1]) * net.slopes(j)[:, None, None]
            total += direct.transpose(1, 2, 0).reshape(m * m, m) @ net.back(j, i)[:, None]
    wanted = jacobian(lambda w: net.losses(w, torch.as_tensor(net.states[0]), 1).sum(), net.w)
    return {"error": (total[:, 0], wanted.reshape(-1)), "footnote_error": (m, len(total))}


@statement("switching-gate-2.5", "n", a="n", b="n")
def switching_gate(n, a, b):
    """2.5: a switching gate a * b is the bilinear product with the identity tensor."""
    return by_definition(identity_tensor(n), a, b), a * b


@statement("multiplicative-integration-2.5", "I H", w="H I", u="H H", x="I", h="H")
def multiplicative_integration(H, w, u, x, h):
    """2.5: multiplicative integration W x * U h is a CP product with B = I and rank H."""
    forms = cp_product((w, np.eye(H), u), x, h), by_definition(np.einsum("ji,jk->ijk", w, u), x, h)
    return [(form, (w @ x) * (u @ h)) for form in forms]
