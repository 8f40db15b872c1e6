"""Parameters of the networks of barone2016: by the rule that its printed counts follow, and all there are."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from tensor_rnns.declared import Finite
from tensor_rnns.models import build
from tensor_rnns.rows import Rows, rows_of

RECURRENT = ("W_", "R", "L_", "D_")
"""How the parameters of the matrices that act on the state begin."""


@dataclass(frozen=True)
class Network:
    """A model with the sizes of its task; `all_inputs` where the printed count has every input matrix."""

    inputs: int
    outputs: int
    cell: Finite = None
    model: dict = field(default_factory=lambda: {"name": "every_step"})
    symbols: bool = False
    all_inputs: bool = False


def counted(network: Network) -> dict[str, float]:
    """Numbers of the `recurrent` layer (matrices, diagonals, biases), of its largest `product` of factors, by
    the `rule` of the printed counts, and `true`, in all.

    The rule leaves out start states and, but for `all_inputs`, every input matrix but one.
    """
    settings = {"model": network.model, "cell": network.cell}
    shapes = build(settings, network.inputs, network.outputs, symbols=network.symbols).shapes()
    sizes = {name: math.prod(shape) for name, shape in shapes.items()}
    true = sum(sizes.values())
    own = {name.removeprefix("cell/"): size for name, size in sizes.items() if name.startswith("cell/")}
    inputs = [size for name, size in own.items() if name.startswith("U_")]
    if not inputs:
        return {"true": true}
    matrices = {name: size for name, size in own.items() if name.startswith(RECURRENT)}
    recurrent = sum(matrices.values()) + sum(size for name, size in own.items() if name.startswith("b_"))
    factors = [name.removeprefix("L_") for name in matrices if name.startswith("L_")]
    products = [matrices[f"L_{name}"] + matrices.get(f"R_{name}", matrices.get("R", 0)) for name in factors]
    output = true - sum(own.values())
    rule = recurrent + (sum(inputs) if network.all_inputs else inputs[0]) + output
    return {
        "product": max(products or matrices.values()),
        "matrices": sum(matrices.values()),
        "recurrent": recurrent,
        "rule": rule,
        "rule in thousands": rule / 1e3,
        "rule in millions": rule / 1e6,
        "true": true,
    }


def compute(*, networks: Mapping[str, Network], ratios: Mapping[str, tuple[str, str, str]]) -> Rows:
    """A row for each number of each network, and `ratios` by name: [count, network above, network below]."""
    counts = {name: counted(network) for name, network in networks.items()}
    over = {name: counts[above][key] / counts[below][key] for name, (key, above, below) in ratios.items()}
    return rows_of(counts | {"ratios": over})
