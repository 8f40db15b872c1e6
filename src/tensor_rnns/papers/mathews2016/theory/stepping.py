"""The package's own cells as numpy functions of one input and one state, in float64."""

import numpy as np
import torch

from tensor_rnns.cells.base import Cell
from tensor_rnns.papers.mathews2016.theory.checking import normal


def random_parameters(cell: Cell, draw: np.random.Generator) -> dict[str, np.ndarray]:
    """Standard normal numbers for every parameter: no zeros of an initialisation can hide a term."""
    return {name: normal(draw, *shape) for name, shape in cell.shapes().items()}


def tensors(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    """The same arrays as float64 tensors."""
    return {name: torch.as_tensor(np.array(array), dtype=torch.float64) for name, array in arrays.items()}


def stepped(
    cell: Cell, parameters: dict[str, np.ndarray], x: np.ndarray, *state: np.ndarray
) -> list[np.ndarray]:
    """The cell's states after input `x` [I] from states [H]."""
    rows = tuple(torch.as_tensor(each)[None] for each in state)
    return [each[0].numpy() for each in cell.step(tensors(parameters), torch.as_tensor(x)[None], rows)]


def step_jacobian(
    cell: Cell,
    parameters: dict[str, np.ndarray],
    x: np.ndarray,
    *state: np.ndarray,
    output: int = 0,
    of: int = 0,
) -> np.ndarray:
    """d state[output] / d previous state[of], [H, H], by automatic differentiation."""
    fixed = [torch.as_tensor(each)[None] for each in state]

    def after(previous: torch.Tensor) -> torch.Tensor:
        rows = tuple(previous[None] if place == of else each for place, each in enumerate(fixed))
        return cell.step(tensors(parameters), torch.as_tensor(x)[None], rows)[output][0]

    return torch.func.jacrev(after)(fixed[of][0]).numpy()


def sigmoid(values: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), as the hyperbolic tangent of x / 2 so that no exponential overflows."""
    return 0.5 * (1 + np.tanh(0.5 * values))
