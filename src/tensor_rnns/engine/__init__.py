"""Engines that run a step over time, and what goes with them: linear maps, losses, the choice of an engine.

Whoever runs a cell imports this package and nothing below it.
"""

from tensor_rnns.engine.affine import Affine, binary_cross_entropy, cross_entropy, squared_error, values
from tensor_rnns.engine.choice import ENGINES, alternatives, check, choose, find, pick, resolve, without_cell
from tensor_rnns.engine.compiled.direct import Direct, Views
from tensor_rnns.engine.eager import Engine, Outputs
from tensor_rnns.engine.given import Draws, Params, State, Steps, step_problem
from tensor_rnns.engine.touched import Touched
from tensor_rnns.engine.trial import untrainable

__all__ = [
    "ENGINES", "Affine", "Direct", "Draws", "Engine", "Outputs", "Params", "State", "Steps", "Touched",
    "Views", "alternatives", "binary_cross_entropy", "check", "choose", "cross_entropy", "find", "pick",
    "resolve", "squared_error", "step_problem", "untrainable", "values", "without_cell",
]  # fmt: skip
