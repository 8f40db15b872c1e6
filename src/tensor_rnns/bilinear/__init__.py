"""Bilinear forms: the full tensor and its decompositions."""

import copy

import numpy as np

from tensor_rnns.bilinear.forms import CP, Form, Full, TensorTrain
from tensor_rnns.bilinear.initialisers import Scheme, draw

__all__ = ["CP", "Form", "Full", "TensorTrain", "equal_factors", "form", "rank_problem"]

KINDS = {one.kind: one for one in (CP, TensorTrain, Full)}


def form(
    kind: str, left: int, out: int, right: int, rank: int | None, append_one: bool = False, prefix: str = ""
) -> Form:
    """The form of this kind, sizes and rank: cp, tensor_train with both ranks equal, or full, which has none.

    Another kind, or a rank that the kind cannot have, raises ValueError with what is allowed.
    """
    if kind not in KINDS:
        raise ValueError(f"form {kind!r} is not known; allowed: {', '.join(KINDS)}")
    if problem := rank_problem(kind, rank):
        raise ValueError(problem)
    ranks = {CP: [rank], TensorTrain: [rank, rank], Full: []}[KINDS[kind]]
    return KINDS[kind](left, out, right, *ranks, append_one, prefix)


def rank_problem(kind: str, rank: int | None) -> str | None:
    """Why a form of this kind cannot have this rank; None where it can."""
    if kind == Full.kind and rank is not None:
        return f"rank is {rank!r}; a full tensor has none"
    if kind != Full.kind and rank is None:
        return f"the form {kind} needs the key 'rank' (a whole number of at least 1)"
    return None


def equal_factors(form: Form, rng: np.random.Generator, scheme: Scheme) -> dict[str, np.ndarray]:
    """The parameters of `form`, each drawn from a copy of `rng`: factors of equal shape are equal.

    So it was in the stored runs of mathews2016 section 3.4.2, whose factors share one seed. Equal sizes make
    A = B = C in CP form. In a tensor train the outer matrices, there both stored [size, rank], are equal: C =
    A^T, and the core begins with their numbers.
    """
    values = {name: draw(scheme, shape, copy.deepcopy(rng)) for name, shape in form.shapes().items()}
    if isinstance(form, TensorTrain):
        last = f"{form.prefix}C"
        values[last] = draw(scheme, values[last].shape[::-1], copy.deepcopy(rng)).T
    return values
