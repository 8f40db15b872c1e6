"""Tensor networks described by nodes and arms, contracted and compared with formulas (mathews2016 3.1, 3.3).

A node is a tensor with one arm an index. An arm that two nodes share is summed over, one that a single node
has is free: an index of the result.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tensor_rnns.compute.statements import normal, relative
from tensor_rnns.declared import Invalid, Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.mathews2016.theory import decompositions as forms
from tensor_rnns.papers.mathews2016.theory.bilinear import by_definition, identity_tensor
from tensor_rnns.rows import Rows, rows_of


def tensor_train(**nodes: np.ndarray) -> np.ndarray:
    """Y at (i_1 .. i_d): the product of one slice of each core, in the order of the nodes (section 3.3.2)."""
    first, *cores, last = nodes.values()

    def entry(*index: int) -> float:
        row = first[index[0]]
        for core, place in zip(cores, index[1:-1], strict=True):
            row = row @ core[:, place]
        return row @ last[:, index[-1]]

    return forms.filled((first.shape[0], *(core.shape[1] for core in cores), last.shape[1]), entry)


FORMULAS: dict[str, Callable[..., Any]] = {
    "itself": lambda **nodes: next(iter(nodes.values())),
    "matrix_vector": lambda A, x: [row @ x for row in A],
    "matrix_matrix": lambda A, B: [[row @ column for column in B.T] for row in A],
    "bilinear_form": lambda a, U, b: a @ [row @ b for row in U],
    "bilinear": lambda W, x, y: by_definition(W, x, y),
    "cp_bilinear": lambda A, B, C, x, y, **identity: forms.cp_product((A, B, C), x, y),
    "cp_reconstructed": lambda A, B, C, x, y, **identity: by_definition(forms.cp_tensor((A, B, C)), x, y),
    "tensor_train": tensor_train,
    "tt_bilinear": lambda A, B, C, x, y: forms.tt_product((A, B, C), x, y),
    "tt_reconstructed": lambda A, B, C, x, y: by_definition(forms.tt_tensor((A, B, C)), x, y),
}
"""What a diagram can be said to equal, of its nodes by name: y_i = <A_i., x>, C_ik = <A_i., B_.k>, <a, U b>
(3.1, 3.2.1), and the products of `theory`."""


@dataclass(frozen=True)
class Node:
    """A tensor of a diagram: where it stands, its arms, its letter, and whether it is an identity tensor."""

    at: tuple[float, float]
    arms: tuple[str, ...] = ()
    label: str | None = None
    diagonal: bool = False


@dataclass(frozen=True)
class Diagram:
    """A diagram as a file describes it: the size of each arm, the way of each free one, its formulas.

    `at` and the ways are for the drawing.
    """

    nodes: dict[str, Node]
    equals: str | tuple[str, ...]
    sizes: dict[str, str] = field(default_factory=dict)
    free: dict[str, Literal["up", "down", "left", "right"]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Every arm has a size and joins at most two nodes, once each; `free` names the free ones."""
        counts = Counter(arm for node in self.nodes.values() for arm in node.arms)
        free = sorted(arm for arm, count in counts.items() if count == 1)
        if missing := [arm for arm in counts if arm not in self.sizes]:
            raise Invalid("sizes", f"no size for the arms {', '.join(missing)}; given: {self.sizes}")
        if many := [arm for arm, count in counts.items() if count > 2]:
            raise Invalid("nodes", f"{', '.join(many)} joins more than two nodes; allowed are two")
        if twice := [name for name, node in self.nodes.items() if len(set(node.arms)) < len(node.arms)]:
            raise Invalid("nodes", f"{', '.join(twice)} has an arm twice; give each arm its own name")
        if sorted(self.free) != free:
            raise Invalid("free", f"free names {list(self.free)}; the free arms are {free}")
        if unknown := [formula for formula in self.formulas if formula not in FORMULAS]:
            raise Invalid("equals", f"it equals {unknown}; allowed are {', '.join(FORMULAS)}")

    @property
    def formulas(self) -> tuple[str, ...]:
        """The names of what it equals."""
        return (self.equals,) if isinstance(self.equals, str) else self.equals

    def draw(self, draw: np.random.Generator) -> dict[str, np.ndarray]:
        """Random nodes; sizes of different names differ, from 2 on, in a random order."""
        names = sorted({self.sizes[arm] for node in self.nodes.values() for arm in node.arms})
        size = dict(zip(names, draw.permutation(np.arange(2, 2 + len(names))).tolist(), strict=True))
        tensors = {}
        for name, node in self.nodes.items():
            shape = [size[self.sizes[arm]] for arm in node.arms]
            tensors[name] = identity_tensor(shape[0]) if node.diagonal else normal(draw, *shape)
        return tensors

    def contract(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """The sum over all shared arms; an index of the result for each arm of `free`, in that order."""
        letters = {arm: place for place, arm in enumerate(self.sizes)}
        operands: list[Any] = []
        for name, node in self.nodes.items():
            operands += [arrays[name], [letters[arm] for arm in node.arms]]
        return np.asarray(np.einsum(*operands, [letters[arm] for arm in self.free]))


def compute(*, seed: Natural, draws: int, diagrams: dict[str, Diagram]) -> Rows:
    """Rows of every diagram.

    Names: `error`, the largest relative difference between the contraction and its formulas over all `draws`,
    infinite for another shape; `draws`; `nodes`; `free_arms`, those counted in the description;
    `arms_error`, their number against the indices of the formula's result.
    """
    numbers = {}
    for name, diagram in diagrams.items():
        errors, arms = [0.0], [0]
        for number in range(draws):
            arrays = diagram.draw(rng(seed, number))
            result = diagram.contract(arrays)
            for formula in diagram.formulas:
                wanted = np.asarray(FORMULAS[formula](**arrays))
                errors.append(relative(result, wanted) if result.shape == wanted.shape else np.inf)
                arms.append(abs(len(diagram.free) - wanted.ndim))
        numbers[name] = {
            "error": max(errors), "draws": draws, "nodes": len(diagram.nodes),
            "free_arms": len(diagram.free), "arms_error": max(arms),
        }  # fmt: skip
    return rows_of(numbers)
