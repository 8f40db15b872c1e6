"""Tensor networks described by nodes and arms, contracted and compared with formulas (mathews2016 3.1, 3.3).

A node is a tensor with one arm an index. An arm that two nodes share is summed over, one that a single node
has is free: an index of the result.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tensor_rnns.declared import Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.mathews2016.theory.bilinear import by_definition, identity_tensor
from tensor_rnns.papers.mathews2016.theory.checking import normal, relative
from tensor_rnns.papers.mathews2016.theory.decompositions import cp_tensor, tt_tensor
from tensor_rnns.rows import Rows, rows_of

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class NodeForm:
    """A tensor of a diagram: where it stands, its arms, and its letter."""

    at: tuple[float, float]
    arms: tuple[str, ...] = ()
    label: str | None = None
    diagonal: bool = False


@dataclass(frozen=True)
class Diagram:
    """A diagram as a file describes it: the size of each arm, the way of each free one, its formulas.

    `at` and the ways are for the drawing.
    """

    nodes: dict[str, NodeForm]
    equals: str | tuple[str, ...]
    sizes: dict[str, str] = field(default_factory=dict)
    free: dict[str, Literal["up", "down", "left", "right"]] = field(default_factory=dict)


@dataclass(frozen=True)
class Arguments:
    seed: Natural
    draws: int
    diagrams: dict[str, Diagram]


@dataclass(frozen=True)
class Network:
    """One diagram: the arms of each node, the size of each arm, and which nodes are identity tensors."""

    name: str
    nodes: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, str]
    diagonal: frozenset[str]
    free: tuple[str, ...]

    @classmethod
    def of(cls, name: str, spec: Diagram) -> "Network":
        """The network of a diagram whose arms and sizes are like {W: (i, j, k)} and {i: n1}.

        ValueError where an arm has no size, belongs to more than two nodes or twice to one, or `free` names
        other arms than the free ones.
        """
        nodes, sizes = {node: block.arms for node, block in spec.nodes.items()}, spec.sizes
        arms = [arm for own in nodes.values() for arm in own]
        counts = {arm: arms.count(arm) for arm in arms}
        if missing := [arm for arm in counts if arm not in sizes]:
            raise ValueError(
                f"diagram {name}: no size for the arms {', '.join(missing)}; given: {dict(sizes)}"
            )
        if many := [arm for arm, count in counts.items() if count > 2]:
            raise ValueError(f"diagram {name}: {', '.join(many)} joins more than two nodes; allowed are two")
        if twice := [node for node, own in nodes.items() if len(set(own)) < len(own)]:
            raise ValueError(
                f"diagram {name}: {', '.join(twice)} has an arm twice; give each arm its own name"
            )
        open_arms, free = {arm for arm, count in counts.items() if count == 1}, tuple(spec.free)
        if set(free) != open_arms:
            raise ValueError(
                f"diagram {name}: free names {list(free)}; the free arms are {sorted(open_arms)}"
            )
        diagonal = frozenset(node for node, block in spec.nodes.items() if block.diagonal)
        return cls(name, nodes, dict(sizes), diagonal, free)

    def draw(self, draw: np.random.Generator) -> dict[str, np.ndarray]:
        """Random nodes; sizes of different names differ, from 2 on, in a random order."""
        names = sorted({self.sizes[arm] for arms in self.nodes.values() for arm in arms})
        size = dict(zip(names, draw.permutation(np.arange(2, 2 + len(names))).tolist(), strict=True))
        shapes = {node: [size[self.sizes[arm]] for arm in arms] for node, arms in self.nodes.items()}
        return {
            node: identity_tensor(shape[0]) if node in self.diagonal else normal(draw, *shape)
            for node, shape in shapes.items()
        }

    def contract(self, arrays: Arrays) -> np.ndarray:
        """The sum over all shared arms; an index of the result for each arm of `free`, in that order."""
        letters = {arm: place for place, arm in enumerate(self.sizes)}
        operands: list[Any] = []
        for node, arms in self.nodes.items():
            operands += [arrays[node], [letters[arm] for arm in arms]]
        return np.asarray(np.einsum(*operands, [letters[arm] for arm in self.free]))


def itself(nodes: Arrays) -> np.ndarray:
    """The one tensor of the diagram, put together entry by entry."""
    (tensor,) = nodes.values()
    copy = np.empty(tensor.shape)
    for index in np.ndindex(*tensor.shape):
        copy[index] = tensor[index]
    return copy


def matrix_vector(nodes: Arrays) -> np.ndarray:
    """y_i = <A_i., x> (section 3.1)."""
    return np.array([np.dot(row, nodes["x"]) for row in nodes["A"]])


def matrix_matrix(nodes: Arrays) -> np.ndarray:
    """C_ik = <A_i., B_.k>."""
    return np.array([[np.dot(row, column) for column in nodes["B"].T] for row in nodes["A"]])


def bilinear_form(nodes: Arrays) -> np.ndarray:
    """<a, U b> (section 3.2.1)."""
    return np.asarray(np.dot(nodes["a"], matrix_vector({"A": nodes["U"], "x": nodes["b"]})))


def bilinear(nodes: Arrays) -> np.ndarray:
    """z_j = sum over i and k of W_ijk x_i y_k (section 3.2.1)."""
    return by_definition(nodes["W"], nodes["x"], nodes["y"])


def cp_bilinear(nodes: Arrays) -> np.ndarray:
    """z = B^T (A x * C y) of factors R x n (proposition 3.3.1)."""
    return nodes["B"].T @ ((nodes["A"] @ nodes["x"]) * (nodes["C"] @ nodes["y"]))


def cp_reconstructed(nodes: Arrays) -> np.ndarray:
    """The bilinear product with the sum of R outer products, entry by entry (section 3.3.1)."""
    tensor = cp_tensor((nodes["A"], nodes["B"], nodes["C"]))
    return by_definition(tensor, nodes["x"], nodes["y"])


def tensor_train(nodes: Arrays) -> np.ndarray:
    """Y at (i_1 .. i_d): the product of one slice of each core, in the order of the nodes (section 3.3.2)."""
    first, *cores, last = nodes.values()
    shape = (first.shape[0], *(core.shape[1] for core in cores), last.shape[1])
    tensor = np.empty(shape)
    for index in np.ndindex(*shape):
        row = first[index[0]]
        for core, place in zip(cores, index[1:-1], strict=True):
            row = row @ core[:, place]
        tensor[index] = row @ last[:, index[-1]]
    return tensor


def tt_bilinear(nodes: Arrays) -> np.ndarray:
    """z_j = (x^T A) B_.j. (C y) (eq 3.7)."""
    x, y = nodes["x"] @ nodes["A"], nodes["C"] @ nodes["y"]
    return np.array([x @ nodes["B"][:, j] @ y for j in range(nodes["B"].shape[1])])


def tt_reconstructed(nodes: Arrays) -> np.ndarray:
    """The bilinear product with the tensor of the train, entry by entry (section 3.3.2)."""
    tensor = tt_tensor((nodes["A"], nodes["B"], nodes["C"]))
    return by_definition(tensor, nodes["x"], nodes["y"])


FORMULAS: dict[str, Callable[[Arrays], np.ndarray]] = {
    f.__name__: f
    for f in (
        itself, matrix_vector, matrix_matrix, bilinear_form, bilinear, cp_bilinear, cp_reconstructed,
        tensor_train, tt_bilinear, tt_reconstructed,
    )
}  # fmt: skip
"""What a diagram can be said to equal."""


def check(network: Network, formulas: Sequence[str], seed: int, draws: int) -> Rows:
    """Rows of one diagram: `error` against all its formulas (infinite for another shape), `draws`, `nodes`,
    `free_arms`, `arms_error`."""
    errors, arms = [0.0], [0]
    for number in range(draws):
        arrays = network.draw(rng(seed, number))
        result = network.contract(arrays)
        for formula in formulas:
            wanted = np.asarray(FORMULAS[formula](arrays))
            errors.append(relative(result, wanted) if result.shape == wanted.shape else np.inf)
            arms.append(abs(len(network.free) - wanted.ndim))
    found = {
        "error": max(errors),
        "draws": draws,
        "nodes": len(network.nodes),
        "free_arms": len(network.free),
        "arms_error": max(arms),
    }
    return rows_of({network.name: found})


def compute(arguments: Arguments) -> Rows:
    """Rows of every diagram.

    Names: `error`, the largest relative difference between the contraction and its formulas over all `draws`;
    `nodes`; `free_arms`, those counted in the description; `arms_error`, their number against the indices of
    the formula's result. ValueError for an unknown formula, and as for `Network.of`.
    """
    rows = []
    for name, spec in arguments.diagrams.items():
        formulas = (spec.equals,) if isinstance(spec.equals, str) else spec.equals
        if unknown := [one for one in formulas if one not in FORMULAS]:
            raise ValueError(f"diagram {name}: it equals {unknown}; allowed are {', '.join(FORMULAS)}")
        rows += check(Network.of(name, spec), formulas, arguments.seed, arguments.draws)
    return rows
