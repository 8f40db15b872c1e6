"""Initial values of factors that all begin with the same numbers, as with one seed for each draw."""

import copy

import numpy as np

from tensor_rnns.bilinear.base import Form
from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.bilinear.tensor_train import TensorTrain


def equal_factors(form: Form, rng: np.random.Generator, scheme: Scheme) -> dict[str, np.ndarray]:
    """The parameters of `form`, each drawn from a copy of `rng`: factors of equal shape are equal.

    So it was in the stored runs of mathews2016 section 3.4.2, whose factors share one seed. Equal sizes make
    A = B = C in CP form. In a tensor train the outer matrices, there both stored [size, rank], are equal: C =
    A^T, and the core begins with their numbers.
    """
    last = f"{form.prefix}C" if isinstance(form, TensorTrain) else None
    return {
        name: draw(scheme, shape[::-1], copy.deepcopy(rng)).T
        if name == last
        else draw(scheme, shape, copy.deepcopy(rng))
        for name, shape in form.shapes().items()
    }
