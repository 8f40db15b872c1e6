"""How much an update multiplies and adds in its products, counted from the traced step."""

from benchmarks.workloads import Workload, model
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.ir.graph import needed
from tensor_rnns.engine.ir.reverse import reverse
from tensor_rnns.engine.ir.trace import trace


def of_a_step(cell: Cell, inputs_learned: bool) -> int:
    """Floating-point operations of all products of one step forward and back, for one row of the batch.

    A product of a row of K numbers with a matrix [K, N] is 2 K N, and so is the gradient of that matrix.
    `inputs_learned` counts the gradient of the inputs. What a kernel computes twice is counted once, and
    operations on single numbers are not counted.
    """
    program = trace(cell)
    backward = reverse(program)
    gradients = [*backward.states, *(backward.inputs if inputs_learned else ())]
    roots = [*program.outputs, *(g for g in gradients if g), *(g for _, g in backward.rows)]
    roots += [node for _, left, g in backward.matrices for node in (left, g)]
    total = 0
    for node in needed(roots):
        if node.operation == "product":
            leaf, transposed = node.detail
            total += 2 * node.inputs[0].width * program.leaves[leaf][0 if transposed else 1]
    for leaf, left, _ in backward.matrices:
        total += 2 * left.width * program.leaves[leaf][1]
    return total


def of_an_update(name: str, load: Workload) -> int:
    """Those of the scans of a whole update, without read-out and optimiser."""
    cell = model(name, load, "eager").cell
    return of_a_step(cell, load.embedding is not None) * load.steps * load.batch
